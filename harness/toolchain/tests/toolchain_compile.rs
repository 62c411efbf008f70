//! Compiling with NVIDIA's compiler: what comes out, what is refused and how it is said.
//!
//! The first of these tests installs the managed compiler where the machine has none.

use std::{fs, path::PathBuf, sync::OnceLock, time::Duration};

use toolchain::{
    Event, Interrupt, Search, Toolchain,
    compile::{Artifact, CompileError, Parameter, Request, Source, Target, compile},
};

fn toolchain() -> &'static Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| {
        let search = Search::from_environment(None).unwrap();
        search.find_or_install(&Interrupt::default(), &mut |_| ()).unwrap()
    })
}

/// A user's folder, and a cache of its own.
struct Desk {
    folder: tempfile::TempDir,
    toolchain: Toolchain,
    arch: &'static str,
    flags: Vec<String>,
    target: Target,
    limit: Duration,
    interrupt: Interrupt,
}

fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let toolchain = Toolchain { cache: folder.path().join("cache"), ..toolchain().clone() };
    Desk {
        folder,
        toolchain,
        arch: "sm_100a",
        flags: Vec::new(),
        target: Target::Emulator,
        limit: Duration::from_secs(120),
        interrupt: Interrupt::default(),
    }
}

fn parameters() -> Vec<Parameter> {
    [("const float*", "a"), ("uint8_t*", "q"), ("size_t", "n")]
        .map(|(ty, name)| Parameter::new(ty, name))
        .to_vec()
}

impl Desk {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn compile(&self, name: &str) -> Result<Artifact, CompileError> {
        let mut source = Source::read(&self.path(name)).unwrap();
        // As if typed in that folder.
        source.typed = PathBuf::from(name);
        let request = Request {
            source: &source,
            arch: self.arch,
            parameters: &parameters(),
            flags: &self.flags,
            target: self.target,
            limit: self.limit,
        };
        let result = compile(&self.toolchain, &request, &self.interrupt, &mut |_| ());
        let work = self.path("cache/work");
        let left = fs::read_dir(work).map(|entries| entries.count()).unwrap_or(0);
        assert_eq!(left, 0, "temporary files are left");
        result
    }

    fn source(&self, text: &str) -> Result<Artifact, CompileError> {
        self.write("kernel.cu", text);
        self.compile("kernel.cu")
    }

    fn refused(&self, text: &str) -> String {
        self.source(text).unwrap_err().to_string()
    }
}

const GOOD: &str = r#"#include <stdint.h>

namespace { template <int N> __global__ void scale(const float* a, uint8_t* q, size_t n) {
    __shared__ float s[256];
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    s[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) q[i] = uint8_t(s[threadIdx.x ^ 1] * N);
} }

__global__ void touch(uint8_t* q) { q[threadIdx.x] = 1; }

extern "C" void solution(const float* a, uint8_t* q, size_t n) {
    touch<<<1, 32>>>(q);
    scale<3><<<(n + 255) / 256, 256>>>(a, q, n);
}
"#;

/// `GOOD` with another body, its signature right.
fn body(text: &str) -> String {
    format!(
        "#include <stdint.h>\n{text}\n\
         extern \"C\" void solution(const float* a, uint8_t* q, size_t n) {{ }}\n"
    )
}

#[test]
fn a_solution_becomes_a_library_with_ptx_and_facts() {
    let desk = desk();
    let made = desk.source(GOOD).unwrap();
    assert!(!made.cached);
    let ptx = fs::read_to_string(&made.ptx).unwrap();
    assert!(ptx.contains(".target sm_100a") && ptx.contains(".entry _Z5touchPh("), "{ptx}");
    assert!(ptx.contains(&format!("\"{}\"", desk.path("kernel.cu").display())), "no .file");
    let mut kernels = made.kernels.clone();
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["scale<3>", "touch"]);
    // ptxas reserves 1 KiB of shared memory for the system on sm_90 and later; it may report it.
    assert!(kernels[0].shared_bytes >= 1024 && kernels[0].registers >= 8, "{kernels:?}");
    assert!(ptx.contains(&kernels[0].mangled));
    assert!(made.flags.iter().any(|flag| flag == "-std=c++20"), "{:?}", made.flags);

    // No runtime is linked in: nibble's own is found when the library is loaded.
    let library = fs::read(&made.library).unwrap();
    let needs = |name: &str| library.windows(name.len()).any(|at| at == name.as_bytes());
    assert!(needs("__cudaRegisterFatBinary") && !needs("libcudart"));
}

#[test]
fn for_a_gpu_the_runtime_is_inside_and_its_names_are_not_exported() {
    let mut desk = desk();
    desk.target = Target::Cuda;
    let made = desk.source(GOOD).unwrap();
    let output = std::process::Command::new("nm").arg("-D").arg(&made.library).output().unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    assert!(names.contains(" T solution"), "{names}");
    assert!(!names.contains("cudaLaunchKernel"), "{names}");
    assert!(fs::read_to_string(&made.ptx).unwrap().contains(".target sm_100a"));
    assert_eq!(made.kernels.len(), 2);
}

#[test]
fn every_architecture_of_the_ladder_compiles() {
    let mut desk = desk();
    for arch in ["sm_80", "sm_90a", "sm_100a", "sm_120a"] {
        desk.arch = arch;
        let made = desk.source(GOOD).unwrap();
        let ptx = fs::read_to_string(&made.ptx).unwrap();
        assert!(ptx.contains(&format!(".target {arch}")), "{arch}");
    }
    desk.arch = "sm_77";
    let error = desk.refused(GOOD);
    assert!(error.ends_with("does not know sm_77"), "{error}");
}

#[test]
fn an_unchanged_solution_is_not_compiled_again() {
    let mut desk = desk();
    let first = desk.source(GOOD).unwrap();
    let again = desk.source(GOOD).unwrap();
    assert!(again.cached);
    assert_eq!(
        (first.library, first.hash, first.kernels),
        (again.library.clone(), again.hash, again.kernels)
    );
    assert_eq!(first.flags, again.flags);
    // A damaged entry is made anew.
    fs::write(&again.library, "junk").unwrap();
    assert!(!desk.source(GOOD).unwrap().cached);
    // What matters makes another entry.
    assert!(!desk.source(&format!("{GOOD}\n")).unwrap().cached);
    desk.flags = vec!["--use_fast_math".to_owned()];
    assert!(!desk.source(GOOD).unwrap().cached);
    desk.flags.clear();
    assert!(desk.source(GOOD).unwrap().cached);
    desk.target = Target::Cuda;
    assert!(!desk.source(GOOD).unwrap().cached);
}

#[test]
fn compiling_again_gives_the_same_ptx() {
    let desk = desk();
    let first = fs::read_to_string(desk.source(GOOD).unwrap().ptx).unwrap();
    fs::remove_dir_all(desk.path("cache")).unwrap();
    assert_eq!(fs::read_to_string(desk.source(GOOD).unwrap().ptx).unwrap(), first);
}

#[test]
fn a_changed_header_compiles_again_and_a_restored_one_does_not() {
    let desk = desk();
    let include =
        GOOD.replace("#include <stdint.h>\n", "#include <stdint.h>\n#include \"my own/h.cuh\"\n");
    desk.write("my own/h.cuh", "#define ONE 1\n");
    assert!(!desk.source(&include).unwrap().cached);
    assert!(desk.source(&include).unwrap().cached);
    std::thread::sleep(Duration::from_millis(20));
    desk.write("my own/h.cuh", "#define ONE 2\n");
    assert!(!desk.source(&include).unwrap().cached);
    desk.write("my own/h.cuh", "#define ONE 1\n");
    assert!(desk.source(&include).unwrap().cached);
}

#[test]
fn a_folder_with_a_space_and_headers_elsewhere_work() {
    let mut desk = desk();
    desk.write("lib/x.cuh", "#include <stdint.h>\n");
    desk.write("my kernels/k.cu", &GOOD.replace("<stdint.h>", "<x.cuh>"));
    desk.flags = vec!["-I../lib".to_owned(), "-DX=3".to_owned()];
    assert!(!desk.compile("my kernels/k.cu").unwrap().cached);
    assert!(desk.compile("my kernels/k.cu").unwrap().cached);
}

#[test]
fn nvccs_errors_keep_the_users_file_and_line() {
    let desk = desk();
    let error =
        desk.refused(&body("__global__ void k(int* p) {\n  *p = foo(1);\n  int x = \"no\";\n}"));
    assert_eq!(
        error,
        "kernel.cu:3:8: error: identifier \"foo\" is undefined\n\
         kernel.cu:4:11: error: a value of type \"const char *\" cannot be used to initialize an \
         entity of type \"int\""
    );
    let error = desk.refused(&body("#include \"nothing.cuh\""));
    assert_eq!(error, "kernel.cu:2:10: error: nothing.cuh: No such file or directory");
    let error = desk.refused(&body("#if 1"));
    assert!(error.starts_with("kernel.cu:2:") && error.contains("unterminated"), "{error}");
    let error = desk.refused(&format!("{}namespace open {{\n", body("")));
    assert_eq!(error, "kernel.cu:4: error: expected a \"}\"\n    line 4: to match this \"{\"");
}

#[test]
fn errors_in_a_header_name_the_header() {
    let desk = desk();
    desk.write("h.cuh", "\nint bad = ;\n");
    let error = desk.refused(&body("#include \"h.cuh\""));
    let header = desk.path("h.cuh");
    assert!(error.starts_with(&format!("{}:2:", header.display())), "{error}");
}

#[test]
fn inline_ptx_that_the_architecture_lacks_names_the_cuda_line() {
    let mut desk = desk();
    let source = body(
        "__global__ void k(unsigned* p, float a) {\n  unsigned r;\n  asm volatile(\"{ .reg .b8 t; \
         cvt.rn.satfinite.e2m1x2.f32 t, %1, %1; mov.b32 %0, {t, 0, 0, 0}; }\" : \"=r\"(r) : \"f\"(a));\n  \
         *p = r;\n}",
    );
    desk.source(&source).unwrap();
    desk.arch = "sm_90a";
    let error = desk.refused(&source);
    assert!(error.starts_with("kernel.cu:4: error: Instruction 'cvt with .e2m1x2'"), "{error}");
    assert!(error.contains("in the PTX: "), "{error}");
}

#[test]
fn too_much_shared_memory_is_an_error_of_the_assembler() {
    let desk = desk();
    let error = desk.refused(&body(
        "__global__ void k(int* p) { __shared__ int s[100000]; s[threadIdx.x] = *p; __syncthreads(); *p = s[*p]; }",
    ));
    assert!(error.contains("uses too much shared data"), "{error}");
}

#[test]
fn the_wrong_signature_is_named_in_the_users_words() {
    let desk = desk();
    let error = desk.refused("#include <stdint.h>\nextern \"C\" void solution(const float* in, float* out, size_t n) {}\n");
    assert_eq!(
        error,
        "line 2: parameter 2 is `float* out`, the problem passes `uint8_t* q`\n    \
         expected: extern \"C\" void solution(const float* a, uint8_t* q, size_t n)"
    );
}

/// What the text does not show, the types do.
#[test]
fn the_compiler_sees_through_typedefs_macros_and_headers() {
    let desk = desk();
    let hidden = "#include <stddef.h>\nusing Out = float;\n\
                  extern \"C\" void solution(const float* a,\n    Out* q, size_t n) {}\n";
    let error = desk.refused(hidden);
    assert!(
        error.starts_with("line 4: parameter 2 is `Out* q`, the problem passes `uint8_t* q`"),
        "{error}"
    );
    let fine = "#include <stddef.h>\nusing Out = unsigned char;\n\
                extern \"C\" void solution(float* a, Out* q, unsigned long long n) noexcept {}\n";
    desk.source(fine).unwrap();
    desk.write(
        "impl.cuh",
        "extern \"C\" void solution(const float* a, int* q, unsigned long n) {}\n",
    );
    let error = desk.refused("#include \"impl.cuh\"\n");
    assert!(
        error.starts_with("parameter 2 has another type than the problem's `uint8_t* q`"),
        "{error}"
    );
    desk.write("impl.cuh", "extern \"C\" int solution(const float* a, unsigned char* q, unsigned long n) { return 0; }\n");
    let error = desk.refused("#include \"impl.cuh\"\n");
    assert!(error.starts_with("`solution` returns"), "{error}");
    desk.write("impl.cuh", "int nothing;\n");
    let error = desk.refused("#include \"impl.cuh\"\n");
    assert!(error.starts_with("there is no function `solution`"), "{error}");
    let cpp = "#include <stdint.h>\n#define ENTRY void\nENTRY solution(const float* a, uint8_t* q, size_t n) {}\n";
    let error = desk.refused(cpp);
    assert!(error.starts_with("line 3: `solution` is not extern \"C\""), "{error}");
}

#[test]
fn a_forbidden_flag_never_reaches_the_compiler() {
    let mut desk = desk();
    desk.flags = vec!["-rdc=true".to_owned()];
    let error = desk.refused(GOOD);
    assert!(error.starts_with("nvcc flag `-rdc=true` is not allowed"), "{error}");
    assert!(!desk.path("cache").exists());
}

#[test]
fn flags_reach_compiler_and_assembler() {
    let mut desk = desk();
    let heavy = body(
        "__global__ void k(float* p) { float x[64];\n\
         for (int i = 0; i < 64; i++) x[i] = p[i * 32 + threadIdx.x];\n\
         __syncthreads();\n\
         for (int i = 0; i < 64; i++) p[i * 32 + (threadIdx.x ^ 1)] = x[i] / x[63 - i]; }",
    );
    let free = desk.source(&heavy).unwrap().kernels[0].registers;
    desk.flags = vec!["-maxrregcount=32".to_owned()];
    let bound = desk.source(&heavy).unwrap();
    assert!(free > 32 && bound.kernels[0].registers <= 32, "{free} {:?}", bound.kernels);
    assert!(bound.kernels[0].spill_store_bytes > 0, "{:?}", bound.kernels);
    desk.flags = vec!["--use_fast_math".to_owned()];
    let ptx = fs::read_to_string(desk.source(&heavy).unwrap().ptx).unwrap();
    assert!(ptx.contains("div.approx.ftz.f32"), "{ptx}");
}

#[test]
fn warnings_are_kept_with_the_entry() {
    let desk = desk();
    let source = body("__global__ void k() {\n  int unused;\n}");
    for cached in [false, true] {
        let made = desk.source(&source).unwrap();
        assert_eq!(made.cached, cached);
        let shown: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["kernel.cu:3:7: warning: variable \"unused\" was declared but never referenced"]
        );
    }
}

/// A template that doubles at each of its levels.
fn bomb() -> String {
    body(
        "template <int N, class A, class B> struct T { static constexpr unsigned long value = \
         T<N - 1, T<N, A, B>, int>::value + T<N - 1, int, T<N, A, B>>::value; };\n\
         template <class A, class B> struct T<0, A, B> { static constexpr unsigned long value = 1; };\n\
         unsigned long boom = T<40, int, int>::value;",
    )
}

#[test]
fn a_compile_bomb_is_stopped_by_the_clock() {
    let mut desk = desk();
    desk.limit = Duration::from_secs(2);
    desk.write("bomb.cu", &bomb());
    let error = desk.compile("bomb.cu").unwrap_err();
    assert_eq!(error.to_string(), "compiling took longer than 2 s");
}

#[test]
fn an_interrupt_stops_the_compiler() {
    let desk = desk();
    desk.write("bomb.cu", &bomb());
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            desk.interrupt.raise();
        });
        desk.compile("bomb.cu").unwrap_err()
    });
    assert_eq!(error, CompileError::Interrupted);
}

#[test]
fn a_flood_of_errors_is_cut() {
    let desk = desk();
    let mut text = String::new();
    for i in 0..500 {
        text.push_str(&format!("int a{i} = missing{i};\n"));
    }
    let error = desk.refused(&body(&text));
    assert!(error.lines().count() <= 12, "{error}");
    assert!(error.contains("kernel.cu:2:10: error") && error.contains("more errors"), "{error}");
}

#[test]
fn two_at_once_compile_once() {
    let desk = desk();
    desk.write("kernel.cu", GOOD);
    let made = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| {
            scope.spawn(|| {
                let source = Source::read(&desk.path("kernel.cu")).unwrap();
                let request = Request {
                    source: &source,
                    arch: "sm_80",
                    parameters: &parameters(),
                    flags: &[],
                    target: Target::Emulator,
                    limit: desk.limit,
                };
                compile(&desk.toolchain, &request, &desk.interrupt, &mut |_| ()).unwrap()
            })
        });
        both.map(|one| one.join().unwrap())
    });
    assert_eq!(made.iter().filter(|artifact| artifact.cached).count(), 1);
    assert_eq!(made[0].library, made[1].library);
}

#[test]
fn events_tell_what_is_going_on() {
    let desk = desk();
    desk.write("kernel.cu", GOOD);
    let source = Source::read(&desk.path("kernel.cu")).unwrap();
    let mut told = Vec::new();
    let request = Request {
        source: &source,
        arch: "sm_80",
        parameters: &parameters(),
        flags: &[],
        target: Target::Emulator,
        limit: desk.limit,
    };
    compile(&desk.toolchain, &request, &desk.interrupt, &mut |event| told.push(event)).unwrap();
    assert!(matches!(
        &told[..],
        [Event::Compiling { arch, .. }, Event::Compiled { cached: false, .. }] if arch == "sm_80"
    ));
}
