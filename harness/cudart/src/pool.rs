//! Memory pools: handles and thresholds, behind which all memory is the one heap.

use super::abi::{In, Location, Out, PoolHandle};
use super::error::{Code, Outcome};
use super::session::Session;

/// The device's default pool, which no program destroys.
const DEFAULT_POOL: PoolHandle = 0xd0;

/// `cudaMemAccessFlagsProtReadWrite`
const READ_WRITE: u32 = 3;

/// Values of `cudaMemPoolAttr`.
mod attribute {
    pub const REUSE: std::ops::RangeInclusive<u32> = 1..=3;
    pub const RELEASE_THRESHOLD: u32 = 4;
    pub const MEMORY: std::ops::RangeInclusive<u32> = 5..=8;
}

impl Session {
    pub fn pool(&self, pool: PoolHandle) -> Outcome {
        if pool == DEFAULT_POOL || self.pools.contains_key(&pool) {
            return Ok(());
        }
        Err(Code::INVALID_VALUE.because("it is no memory pool"))
    }
}

runtime! {
    fn cudaDeviceGetDefaultMemPool(pool: Out<PoolHandle>, device: i32) |session| {
        session.device(device)?;
        pool.set(DEFAULT_POOL)
    }

    fn cudaDeviceGetMemPool(pool: Out<PoolHandle>, device: i32) |session| {
        session.device(device)?;
        pool.set(DEFAULT_POOL)
    }

    fn cudaDeviceSetMemPool(device: i32, pool: PoolHandle) |session| {
        session.device(device)?;
        session.pool(pool)
    }

    fn cudaMemGetDefaultMemPool(
        pool: Out<PoolHandle>, _location: In<Location>, _kind: u32,
    ) |_session| {
        pool.set(DEFAULT_POOL)
    }

    fn cudaMemGetMemPool(pool: Out<PoolHandle>, _location: In<Location>, _kind: u32) |_session| {
        pool.set(DEFAULT_POOL)
    }

    fn cudaMemSetMemPool(_location: In<Location>, _kind: u32, pool: PoolHandle) |session| {
        session.pool(pool)
    }

    fn cudaMemPoolCreate(pool: Out<PoolHandle>, properties: In<u8>) |session| {
        properties.get()?;
        let handle = session.handle();
        session.pools.insert(handle, 0);
        pool.set(handle)
    }

    fn cudaMemPoolDestroy(pool: PoolHandle) |session| {
        match session.pools.remove(&pool) {
            Some(_) if pool != DEFAULT_POOL => Ok(()),
            _ => Err(Code::INVALID_VALUE.because("it is no pool of the program's own")),
        }
    }

    fn cudaMemPoolSetAttribute(pool: PoolHandle, id: u32, value: In<u64>) |session| {
        session.pool(pool)?;
        if id == attribute::RELEASE_THRESHOLD {
            let threshold = value.get()?;
            session.pools.insert(pool, threshold);
            return Ok(());
        }
        if attribute::REUSE.contains(&id) || attribute::MEMORY.contains(&id) {
            return Ok(());
        }
        Err(Code::INVALID_VALUE.because(format!("no attribute {id}")))
    }

    fn cudaMemPoolGetAttribute(pool: PoolHandle, id: u32, value: Out<u64>) |session| {
        session.pool(pool)?;
        match id {
            attribute::RELEASE_THRESHOLD => {
                value.set(session.pools.get(&pool).copied().unwrap_or(0))
            }
            id if attribute::REUSE.contains(&id) => value.cast::<i32>().set(1),
            id if attribute::MEMORY.contains(&id) => {
                let (free, total) = session.connection.room()?;
                value.set(total - free)
            }
            _ => Err(Code::INVALID_VALUE.because(format!("no attribute {id}"))),
        }
    }

    fn cudaMemPoolTrimTo(pool: PoolHandle, _bytes: usize) |session| {
        session.pool(pool)
    }

    fn cudaMemPoolSetAccess(pool: PoolHandle, _list: In<u8>, _count: usize) |session| {
        session.pool(pool)
    }

    fn cudaMemPoolGetAccess(
        flags: Out<u32>, pool: PoolHandle, _location: In<Location>,
    ) |session| {
        session.pool(pool)?;
        flags.set(READ_WRITE)
    }
}
