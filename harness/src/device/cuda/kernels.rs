//! nibble's own kernels: `kernels.ptx`, compiled by the driver for the GPU at hand.

use std::ffi::{CString, c_void};

use cudarc::driver::{DriverError, result, sys};

use super::driver::{Context, STREAM};

/// The text; a zero byte ends it for the driver.
const TEXT: &str = concat!(include_str!("kernels.ptx"), "\0");

/// Bytes that one block of a tile kernel handles at once.
pub const TILE: usize = 16 << 10;

const THREADS: u32 = 256;

/// One value of a kernel's parameters.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Word(u64),
    Half(u32),
}

#[derive(Debug)]
pub struct Kernels {
    spin: sys::CUfunction,
    write_tiles: sys::CUfunction,
    read_tiles: sys::CUfunction,
    copy_tiles: sys::CUfunction,
    mix: sys::CUfunction,
    poison: sys::CUfunction,
    fingerprint: sys::CUfunction,
    /// Blocks that keep the GPU's memory busy.
    blocks: u32,
    /// Blocks and threads of each that leave no room for another warp.
    whole: (u32, u32),
}

impl Kernels {
    pub fn load(context: &Context) -> Result<Self, DriverError> {
        // SAFETY: a text that ends with a zero byte; the module is never unloaded.
        let module = unsafe { result::module::load_data(TEXT.as_ptr().cast()) }?;
        let function = |name: &str| {
            let name = CString::new(name).unwrap_or_default();
            // SAFETY: the module just loaded.
            unsafe { result::module::get_function(module, name) }
        };
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
        let (blocks, threads) = self.whole;
        launch(self.spin, blocks, threads, &[Value::Word(out), Value::Word(cycles)])
    }

    pub fn write_tiles(&self, to: u64, tiles: u32) -> Result<(), DriverError> {
        let values = [Value::Word(to), Value::Half(tiles), Value::Half(0x5eed_f00d)];
        launch(self.write_tiles, self.blocks, THREADS, &values)
    }

    pub fn read_tiles(&self, from: u64, tiles: u32, sink: u64) -> Result<(), DriverError> {
        let values = [Value::Word(from), Value::Half(tiles), Value::Word(sink)];
        launch(self.read_tiles, self.blocks, THREADS, &values)
    }

    pub fn copy_tiles(&self, to: u64, from: u64, tiles: u32) -> Result<(), DriverError> {
        let values = [Value::Word(to), Value::Word(from), Value::Half(tiles)];
        launch(self.copy_tiles, self.blocks, THREADS, &values)
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
        launch(self.mix, self.blocks, THREADS, &values)
    }

    /// Fills `bytes` bytes, a multiple of 8, with the pattern of [`problems::Poison`].
    pub fn poison(&self, to: u64, bytes: usize, seed: u64) -> Result<(), DriverError> {
        let values = [Value::Word(to), Value::Word(bytes as u64 / 8), Value::Word(seed)];
        launch(self.poison, self.blocks, THREADS, &values)
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
        launch(self.fingerprint, self.blocks, THREADS, &values)
    }
}

fn launch(
    kernel: sys::CUfunction,
    blocks: u32,
    threads: u32,
    values: &[Value],
) -> Result<(), DriverError> {
    let mut pointers: Vec<*mut c_void> = values
        .iter()
        .map(|value| match value {
            Value::Word(word) => std::ptr::from_ref(word).cast_mut().cast(),
            Value::Half(half) => std::ptr::from_ref(half).cast_mut().cast(),
        })
        .collect();
    // SAFETY: one pointer for each parameter of the kernel, to a value of its width, which the
    // driver copies before it returns.
    unsafe {
        result::launch_kernel(kernel, (blocks, 1, 1), (threads, 1, 1), 0, STREAM, &mut pointers)
    }
}
