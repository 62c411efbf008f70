//! The four microbenchmark kernels (benches/microbenchmarks.cu), compiled by nvcc for two generations of
//! compilers, against the same arithmetic on the host: every bit must be equal.

use emulator::{Config, Counters, LaunchConfig, Level, Machine};

const SM_80: &str = include_str!("fixtures/microbenchmarks/sm_80.ptx");
const SM_120A: &str = include_str!("fixtures/microbenchmarks/sm_120a.ptx");

struct Gpu {
    machine: Machine,
    ptx: &'static str,
}

impl Gpu {
    fn new(ptx: &'static str, level: Level, threads: usize) -> Self {
        let config = Config { threads, level, ..Config::default() };
        Self { machine: Machine::new(config), ptx }
    }

    fn upload<T: Copy>(&self, data: &[T], name: &str) -> u64 {
        let bytes = size_of_val(data) as u64;
        let at = self.machine.memory().allocate(bytes, name).expect("room");
        // SAFETY: a fresh allocation of that many bytes.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), at as *mut T, data.len()) };
        at
    }

    fn download<T: Copy>(&self, at: u64, count: usize) -> Vec<T> {
        // SAFETY: the caller names an allocation of its own with room for `count`.
        unsafe { std::slice::from_raw_parts(at as *const T, count) }.to_vec()
    }

    fn launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], params: &[u8]) -> Counters {
        let module = self.machine.load(self.ptx).expect("PTX of nvcc");
        let kernel = module.kernel(kernel).expect("kernel");
        let launch = LaunchConfig {
            kernel,
            grid,
            block,
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        match self.machine.launch(&launch, params) {
            Ok(counters) => counters,
            Err(fault) => {
                panic!("{}\n{}", fault.headline(), fault.details(&mut |_, _| None).join("\n"))
            }
        }
    }
}

fn params(words: &[u64], last: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    bytes.extend(last.to_le_bytes());
    bytes
}

fn values(count: usize) -> Vec<f32> {
    let hash = |i: usize| (i as u32).wrapping_mul(0x9e37_79b9) ^ (i as u32 >> 7);
    (0..count)
        .map(|i| {
            ((hash(i) >> 8) as f32 / (1 << 23) as f32 - 1.0) * 2f32.powi(i as i32 / 32 % 9 - 4)
        })
        .collect()
}

fn e2m1(s: f32) -> u8 {
    let a = s.abs();
    let steps = [a > 0.25, a >= 0.75, a > 1.25, a >= 1.75, a > 2.5, a >= 3.5, a > 5.0];
    steps.iter().filter(|&&s| s).count() as u8 | ((s.to_bits() >> 31) << 3) as u8
}

fn quantized(x: &[f32]) -> (Vec<u8>, Vec<u8>) {
    let (mut q, mut scales) = (Vec::new(), Vec::new());
    for block in x.chunks(32) {
        let amax = block.iter().fold(0f32, |m, v| m.max(v.abs()));
        let e = ((amax.to_bits() >> 23) as i32 - 2).max(0) as u32;
        let inverse = f32::from_bits((254 - e) << 23);
        scales.push(e as u8);
        q.extend(block.chunks(2).map(|p| e2m1(p[0] * inverse) | e2m1(p[1] * inverse) << 4));
    }
    (q, scales)
}

fn each(f: impl Fn(Gpu)) {
    for ptx in [SM_80, SM_120A] {
        for &level in Level::all() {
            for threads in [1, 3] {
                f(Gpu::new(ptx, level, threads));
            }
        }
    }
}

fn check_quantizer(gpu: &Gpu, kernel: &str, threads_per_block: u32) -> Counters {
    let x = values(1000 * 32);
    let blocks = (x.len() / 32) as u32;
    let (a, q, s) = (
        gpu.upload(&x, "x"),
        gpu.upload(&vec![0xaau8; x.len() / 2], "q"),
        gpu.upload(&vec![0xaau8; blocks as usize], "sc"),
    );
    let grid = (blocks * threads_per_block).div_ceil(256);
    let counters = gpu.launch(kernel, [grid, 1, 1], [256, 1, 1], &params(&[a, q, s], blocks));
    let (codes, scales) = quantized(&x);
    assert_eq!(gpu.download::<u8>(s, scales.len()), scales);
    assert_eq!(gpu.download::<u8>(q, codes.len()), codes);
    counters
}

#[test]
fn one_thread_quantizes_a_block() {
    each(|gpu| {
        let counters = check_quantizer(&gpu, "k1_thread", 1);
        assert_eq!(counters.ctas, 4);
        assert_eq!(counters.dram_read_sectors, 1000 * 4);
        assert_eq!(counters.global_load_bytes, 1000 * 128);
    });
}

#[test]
fn one_warp_quantizes_a_block() {
    each(|gpu| {
        let counters = check_quantizer(&gpu, "k2_warp", 32);
        assert_eq!(counters.warps, 1000);
        assert_eq!(counters.global_load_sectors, 1000 * 4);
    });
}

#[test]
fn dependent_multiply_adds() {
    each(|gpu| {
        let y = gpu.upload(&vec![0f32; 512], "y");
        let (a, c) = (0.999_9f32, 0.01f32);
        let mut bytes = y.to_le_bytes().to_vec();
        bytes.extend(a.to_le_bytes());
        bytes.extend(c.to_le_bytes());
        gpu.launch("k3_fma", [2, 1, 1], [256, 1, 1], &bytes);
        let expected: Vec<f32> =
            (0..512).map(|t| (0..4096).fold(t as f32 * 0.001, |v, _| v.mul_add(a, c))).collect();
        assert_eq!(gpu.download::<f32>(y, 512), expected);
    });
}

#[test]
fn tiled_matrix_product_with_barriers() {
    each(|gpu| {
        let n = 48usize;
        let (a, b) = (values(n * n), values(2 * n * n)[n * n..].to_vec());
        let c = gpu.upload(&vec![0f32; n * n], "C");
        let words = [gpu.upload(&a, "A"), gpu.upload(&b, "B"), c];
        let counters = gpu.launch("k4_sgemm", [3, 3, 1], [16, 16, 1], &params(&words, n as u32));
        let expected: Vec<f32> = (0..n * n)
            .map(|i| (0..n).fold(0f32, |s, k| a[i / n * n + k].mul_add(b[k * n + i % n], s)))
            .collect();
        assert_eq!(gpu.download::<f32>(c, n * n), expected);
        assert_eq!(counters.barriers, 9 * 8 * 6);
    });
}
