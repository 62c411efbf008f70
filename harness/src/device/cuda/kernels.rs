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
