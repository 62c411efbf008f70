//! nibble's own kernels: `kernels.ptx`, compiled by the driver for the GPU at hand.

use cudarc::driver::DriverError;

use super::driver::{Context, Function, Module, Value};

/// Bytes that one block of a tile kernel handles at once.
pub const TILE: usize = 16 << 10;

const THREADS: u32 = 256;

#[derive(Debug)]
pub struct Kernels {
    spin: Function,
    write_tiles: Function,
    read_tiles: Function,
    copy_tiles: Function,
    mix: Function,
    poison: Function,
    fingerprint: Function,
    /// Blocks that keep the GPU's memory busy.
    blocks: u32,
    /// Blocks and threads of each that leave no room for another warp.
    whole: (u32, u32),
}

impl Kernels {
    pub fn load(context: &Context) -> Result<Self, DriverError> {
        let module = Module::load(include_str!("kernels.ptx"))?;
        let function = |name| module.function(name);
        Ok(Self {
            spin: function("spin")?,
            write_tiles: function("write_tiles")?,
            read_tiles: function("read_tiles")?,
            copy_tiles: function("copy_tiles")?,
            mix: function("mix")?,
            poison: function("poison")?,
            fingerprint: function("fingerprint")?,
            blocks: 8 * context.sms,
            whole: (2 * context.sms, context.threads / 2),
        })
    }

    /// Keeps all of the GPU busy for `cycles`, once all of it is free; what it saw of its clocks
    /// goes to the four words at `out`.
    pub fn spin(&self, out: u64, cycles: u64) -> Result<(), DriverError> {
        self.spin.launch(self.whole, &[Value::Word(out), Value::Word(cycles)])
    }

    /// One block that does nothing.
    pub fn nothing(&self) -> Result<(), DriverError> {
        let values = [Value::Word(0), Value::Half(0), Value::Half(0)];
        self.write_tiles.launch((1, THREADS), &values)
    }

    pub fn write_tiles(&self, to: u64, tiles: u32) -> Result<(), DriverError> {
        let values = [Value::Word(to), Value::Half(tiles), Value::Half(0x5eed_f00d)];
        self.write_tiles.launch((self.blocks, THREADS), &values)
    }

    pub fn read_tiles(&self, from: u64, tiles: u32, sink: u64) -> Result<(), DriverError> {
        let values = [Value::Word(from), Value::Half(tiles), Value::Word(sink)];
        self.read_tiles.launch((self.blocks, THREADS), &values)
    }

    pub fn copy_tiles(&self, to: u64, from: u64, tiles: u32) -> Result<(), DriverError> {
        let values = [Value::Word(to), Value::Word(from), Value::Half(tiles)];
        self.copy_tiles.launch((self.blocks, THREADS), &values)
    }

    /// A content of `bytes` bytes, in units of `unit` bytes from `a` or `b`; both multiples of 16.
    pub fn mix(
        &self,
        to: u64,
        [a, b]: [u64; 2],
        bytes: usize,
        unit: usize,
        key: u64,
    ) -> Result<(), DriverError> {
        let values = [
            Value::Word(to),
            Value::Word(a),
            Value::Word(b),
            Value::Half((bytes / 16) as u32),
            Value::Half((unit / 16) as u32),
            Value::Word(key),
        ];
        self.mix.launch((self.blocks, THREADS), &values)
    }

    /// Fills `bytes` bytes, a multiple of 8, with the pattern of [`problems::Poison`].
    pub fn poison(&self, to: u64, bytes: usize, seed: u64) -> Result<(), DriverError> {
        let values = [Value::Word(to), Value::Word(bytes as u64 / 8), Value::Word(seed)];
        self.poison.launch((self.blocks, THREADS), &values)
    }

    /// Adds the fingerprint of `bytes` bytes, a multiple of 8, to the word at `sum`.
    pub fn fingerprint(
        &self,
        from: u64,
        bytes: usize,
        key: u64,
        sum: u64,
    ) -> Result<(), DriverError> {
        let values =
            [Value::Word(from), Value::Word(bytes as u64 / 8), Value::Word(key), Value::Word(sum)];
        self.fingerprint.launch((self.blocks, THREADS), &values)
    }
}

/// nibble's kernels on nibble's own emulator, held to their meaning in Rust.
#[cfg(test)]
mod tests {
    use emulator::{Config, LaunchConfig, Machine};
    use problems::Poison;

    use crate::device::fingerprint::fingerprint;

    /// A machine with one array, and the kernels.
    struct Bench {
        machine: Machine,
        array: u64,
        len: usize,
    }

    impl Bench {
        fn new(bytes: &[u8]) -> Self {
            let machine = Machine::new(Config { capability: (9, 0), ..Config::default() });
            let array = machine.memory().allocate(bytes.len() as u64, "array").unwrap();
            // SAFETY: allocated just now, and that long.
            unsafe { (array as *mut u8).copy_from(bytes.as_ptr(), bytes.len()) };
            Self { machine, array, len: bytes.len() }
        }

        fn run(&self, kernel: &str, (blocks, threads): (u32, u32), parameters: &[u8]) {
            let module = self.machine.load(include_str!("kernels.ptx")).unwrap();
            let launch = LaunchConfig {
                kernel: module.kernel(kernel).unwrap(),
                grid: [blocks, 1, 1],
                block: [threads, 1, 1],
                dynamic_shared: 0,
                cluster: None,
                cooperative: false,
            };
            if let Err(fault) = self.machine.launch(&launch, parameters) {
                panic!(
                    "{kernel}: {}\n{}",
                    fault.headline(),
                    fault.details(&mut |_, _| None).join("\n")
                );
            }
        }

        fn bytes(&self) -> Vec<u8> {
            // SAFETY: the allocation, which nothing writes now.
            unsafe { std::slice::from_raw_parts(self.array as *const u8, self.len) }.to_vec()
        }
    }

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn random(len: usize, seed: u64) -> Vec<u8> {
        let mut bytes = vec![0; len];
        Poison::new(seed).fill(&mut bytes);
        bytes
    }

    #[test]
    fn poison_is_the_judges_pattern() {
        let bench = Bench::new(&[0; 8 * 700]);
        bench.run("poison", (2, 256), &words(&[bench.array, 700, 42]));
        assert_eq!(bench.bytes(), random(8 * 700, 42));
    }

    #[test]
    fn a_fingerprint_is_the_judges() {
        let bytes = random(8 * 1000, 5);
        let mut array = bytes.clone();
        array.extend([0; 8]);
        let bench = Bench::new(&array);
        let sum = bench.array + bytes.len() as u64;
        bench.run("fingerprint", (3, 256), &words(&[bench.array, 1000, 77, sum]));
        let found = u64::from_le_bytes(*bench.bytes()[bytes.len()..].first_chunk().unwrap());
        assert_eq!(found, fingerprint(&bytes, 0, 77));
    }

    #[test]
    fn a_mixture_takes_whole_units_of_either() {
        let (unit, units) = (48, 40);
        let (a, b) = (random(unit * units, 1), random(unit * units, 2));
        let bench = Bench::new(&[a.clone(), b.clone(), vec![0; unit * units]].concat());
        let at = |index: usize| bench.array + (index * unit * units) as u64;
        let mut parameters = words(&[at(2), at(0), at(1)]);
        parameters.extend(((unit * units / 16) as u32).to_le_bytes());
        parameters.extend(((unit / 16) as u32).to_le_bytes());
        parameters.extend(9_u64.to_le_bytes());
        bench.run("mix", (1, 64), &parameters);
        let mixed = &bench.bytes()[2 * unit * units..];
        let mut of_b = 0;
        for (index, mixed) in mixed.chunks(unit).enumerate() {
            let choice = Poison::new(9).byte(8 * index) & 1 == 1;
            of_b += usize::from(choice);
            let from = if choice { &b } else { &a };
            assert_eq!(mixed, &from[index * unit..(index + 1) * unit], "unit {index}");
        }
        assert!((10..30).contains(&of_b), "{of_b} of {units}");
    }

    #[test]
    fn tiles_are_copied_and_written_whole() {
        let tile = super::TILE;
        let bytes = random(3 * tile, 3);
        let bench = Bench::new(&[bytes.clone(), vec![0; 3 * tile]].concat());
        let to = bench.array + 3 * tile as u64;
        let tiles = 3_u32.to_le_bytes();
        let copy = [words(&[to, bench.array]), tiles.to_vec()].concat();
        bench.run("copy_tiles", (2, 256), &copy);
        assert_eq!(bench.bytes()[3 * tile..], bytes);
        // What is read is only thrown away.
        let read = [words(&[bench.array]), tiles.to_vec(), vec![0; 4], words(&[to])].concat();
        bench.run("read_tiles", (2, 256), &read);
        assert_eq!(bench.bytes()[3 * tile..], bytes);
        let write = [words(&[to]), tiles.to_vec(), 7_u32.to_le_bytes().to_vec()].concat();
        bench.run("write_tiles", (2, 256), &write);
        assert!(bench.bytes()[3 * tile..].chunks(4).all(|word| word == [7, 0, 0, 0]));
    }
}
