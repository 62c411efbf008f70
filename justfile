# `just` lists the recipes; `.ci/run` does the same as `just ci` on a machine without just.

_default:
    @just --list --unsorted

# Formatting and lints: what must be clean before a commit.
check:
    cargo fmt --all --check
    rustfmt --edition 2024 --check problems/*/reference.rs
    cargo clippy --workspace --all-targets -- -D warnings
    .ci/forbid

# Every test, with optimisation: the emulator runs real kernels in them.
test *ARGS:
    cargo test --release --workspace {{ARGS}}

# The CUDA programs of tests/suite, each on every architecture that it runs on.
suite:
    cargo test --release --test integration suite:: -- --include-ignored

# The attacks of tests/exploits, and the honest code that must stay accepted.
exploits:
    cargo test --release --test integration exploits::

# Programs of others, unedited, from CUTLASS's folder (and one with curand_kernel.h, or `-`): prints docs/emulator.md's table.
programs *ARGS:
    cargo build --release --bin nibble
    NIBBLE=target/release/nibble scripts/programs {{ARGS}}

# Everything that needs a GPU, on a machine that has one: see the script. Needs no Rust there.
gpu *ARGS:
    scripts/gpu {{ARGS}}

# Accept today's screens as the snapshots. Read the difference before you commit it.
bless:
    INSTA_UPDATE=always cargo test --release --workspace
    git diff --stat -- '*.snap' '*.rs'

# The emulator's speed beside what it shall reach and beside scalar C++. Needs g++. (In criterion's
# words: `cargo bench -p nibble-emulator --bench microbenchmarks`.)
bench *PARTS:
    cargo bench -p nibble-emulator --bench targets -- {{PARTS}}

# The parser and the lowering never panic; the parser prints what it parsed. Needs cargo-fuzz and a nightly compiler.
fuzz TARGET="ptx" SECONDS="60":
    cargo +nightly fuzz run {{TARGET}} -- -max_total_time={{SECONDS}}

# Random CUDA programs beside their twins on the host, for as long, from a seed if one is given: stops at the
# first that is computed wrongly, and shows it small.
generate SECONDS="600" *SEED:
    cargo run --release -p nibble-programs --bin generate -- {{SECONDS}} {{SEED}}

# A thousand submissions on a scripted device, killed twenty times and begun again: a thousand attempts.
killed:
    cargo test --release --test integration batch::a_thousand -- --ignored

# Judge, device and worker, killed at two hundred moments: no process, no scratch folder, no lock is left.
kills:
    cargo test --release --test integration killed::nothing_stays_of_two_hundred -- --ignored

# CUDA's mathematics appendix on four architectures, in quadruple precision on the host. A minute or two.
mathematics:
    cargo run --release -p nibble-programs --bin mathematics

# What the machine that guards the main branch runs.
ci:
    .ci/run
