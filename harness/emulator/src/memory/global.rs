//! Global memory: a sorted table of allocations, each with a name and exact bounds.
//!
//! The table changes between launches only (device-side `malloc` excepted), so a launch works on a
//! [`Snapshot`] without locks. Each allocation carries two bitmaps with a bit for every sector:
//! which of them the launch read, and which it wrote. A sector is fresh for whoever sets
//! its bit, and only once: so the counts are the same in whatever order CTAs run, which is what makes
//! modelled times repeatable.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use super::known::Known;
use super::{Arena, DeviceWindow, HEAP_BYTES, Heap, OutOfMemory, SECTOR};
use crate::exec::Sectors;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationKind {
    /// `cudaMalloc` and its relatives.
    Heap,
    /// Memory that the host has as well, at the same address: pinned, managed, registered.
    Foreign,
    /// A `__device__` variable.
    Variable,
    /// A `__constant__` variable or the parameters of a launch: kernels may only read.
    Constant,
    /// Where the CTAs of a cooperative launch count each other.
    GridBarrier,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    pub base: u64,
    pub len: u64,
    pub name: String,
    pub kind: AllocationKind,
}

pub struct Range {
    pub info: AllocationInfo,
    /// Touched sectors; made at the first touch, since most allocations of a big program rest.
    read: OnceLock<Box<[AtomicU64]>>,
    written: OnceLock<Box<[AtomicU64]>>,
    /// Which bytes anyone has ever written; absent where all count as written.
    known: Option<Known>,
}

impl Range {
    fn new(info: AllocationInfo) -> Self {
        Self { info, read: OnceLock::new(), written: OnceLock::new(), known: None }
    }

    /// Whether the bytes are of this allocation.
    #[inline]
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.info.base);
        bytes <= self.info.len && offset <= self.info.len - bytes
    }

    /// Whether anyone has written any of the bytes.
    pub fn is_defined(&self, address: u64, bytes: u64) -> bool {
        self.known.as_ref().is_none_or(|known| known.any(address - self.info.base, bytes))
    }

    /// Whether all of the bytes have been written.
    #[inline]
    pub fn is_defined_whole(&self, address: u64, bytes: u64) -> bool {
        self.known.as_ref().is_none_or(|known| known.all(address - self.info.base, bytes))
    }

    /// Whether there is no byte that nobody has written.
    #[inline]
    pub fn is_all_defined(&self) -> bool {
        self.known.as_ref().is_none_or(Known::is_whole)
    }

    /// These bytes have been written.
    pub fn define(&self, address: u64, bytes: u64) {
        if let Some(known) = &self.known {
            known.set(address - self.info.base, bytes.min(self.end() - address));
        }
    }

    pub fn end(&self) -> u64 {
        self.info.base + self.info.len
    }

    /// The first of the line that the allocation begins in, so that a line is in one word of a bitmap.
    fn first_sector(&self) -> u64 {
        self.info.base / SECTOR / PER_LINE * PER_LINE
    }

    fn bitmap(&self, write: bool) -> &[AtomicU64] {
        let cell = if write { &self.written } else { &self.read };
        cell.get_or_init(|| {
            let sectors = self.end().div_ceil(SECTOR) - self.first_sector();
            (0..sectors.div_ceil(64)).map(|_| AtomicU64::new(0)).collect()
        })
    }

    /// Mark the sectors from the one holding `first` to the one holding `last` (addresses inside).
    #[inline]
    pub fn touch(&self, write: bool, first: u64, last: u64) -> Sectors {
        let from = first / SECTOR - self.first_sector();
        let to = last / SECTOR - self.first_sector();
        let touched = to - from + 1;
        let bitmap = self.bitmap(write);
        // Of the first word, those from `from` on; of the last, those up to `to`.
        let (low, high) = (!0u64 << (from % 64), !0u64 >> (63 - to % 64));
        let lines = to / PER_LINE - from / PER_LINE + 1;
        if from / 64 == to / 64 {
            let fresh = mark(&bitmap[(from / 64) as usize], low & high);
            return Sectors { touched, lines, fresh };
        }
        let mut fresh = mark(&bitmap[(from / 64) as usize], low);
        for word in from / 64 + 1..to / 64 {
            fresh += mark(&bitmap[word as usize], !0);
        }
        fresh += mark(&bitmap[(to / 64) as usize], high);
        Sectors { touched, lines, fresh }
    }

    /// Mark the sectors that hold `addresses` (inside, ascending). Those of one word of the bitmap are
    /// marked together: neighbouring lanes are seldom far apart.
    #[inline]
    pub fn touch_all(&self, write: bool, addresses: &[u64]) -> Sectors {
        let bitmap = self.bitmap(write);
        let first = self.first_sector();
        let mut sectors = Sectors::default();
        let (mut word, mut bits) = (0, 0u64);
        for address in addresses {
            let sector = address / SECTOR - first;
            if sector / 64 != word {
                sectors.touched += u64::from(bits.count_ones());
                sectors.lines += lines(bits);
                sectors.fresh += mark(&bitmap[word as usize], bits);
                (word, bits) = (sector / 64, 0);
            }
            bits |= 1 << (sector % 64);
        }
        sectors.touched += u64::from(bits.count_ones());
        sectors.lines += lines(bits);
        sectors.fresh += mark(&bitmap[word as usize], bits);
        sectors
    }

    /// Sectors read since the last launch began, and those written.
    fn touched(&self) -> u64 {
        let words = [self.read.get(), self.written.get()].into_iter().flatten().flatten();
        words.map(|word| u64::from(word.load(Relaxed).count_ones())).sum()
    }

    fn clear(&self) {
        for bits in [self.read.get(), self.written.get()].into_iter().flatten() {
            bits.iter().for_each(|word| word.store(0, Relaxed));
        }
    }
}

/// Sectors of a line.
const PER_LINE: u64 = 4;

/// Lines that these sectors are in.
#[inline(always)]
fn lines(sectors: u64) -> u64 {
    let any = sectors | sectors >> 1 | sectors >> 2 | sectors >> 3;
    u64::from((any & 0x1111_1111_1111_1111).count_ones())
}

/// Set `bits`; how many of them were not set before, by whichever thread.
#[inline(always)]
fn mark(cell: &AtomicU64, bits: u64) -> u64 {
    if cell.load(Relaxed) & bits == bits {
        return 0;
    }
    u64::from((bits & !cell.fetch_or(bits, Relaxed)).count_ones())
}

pub struct GlobalMemory {
    arena: Arena,
    /// For what the host reaches, too.
    shared: Arena,
    table: RwLock<Vec<Arc<Range>>>,
    /// What was freed, newest last, so that a fault can name it.
    freed: RwLock<Vec<AllocationInfo>>,
    /// Made when a module is loaded that calls `malloc`.
    heap: OnceLock<Arc<Mutex<Heap>>>,
    /// Whether fresh allocations remember who wrote them.
    sanitize: bool,
}

/// How many freed allocations are remembered by name.
const REMEMBERED: usize = 1024;

impl GlobalMemory {
    /// `capacity` bytes can be in use at a time, and as many of what the host reaches, too. With `apart`
    /// it reaches nothing else.
    pub fn new(capacity: u64, sanitize: bool, apart: bool) -> Self {
        Self {
            arena: Arena::new(capacity, apart),
            shared: Arena::new(capacity, false),
            table: RwLock::default(),
            freed: RwLock::default(),
            heap: OnceLock::new(),
            sanitize,
        }
    }

    /// Zeroed memory of `len` bytes, 4096-byte aligned.
    pub fn allocate(&self, len: u64, name: &str) -> Result<u64, OutOfMemory> {
        self.allocate_as(len, name, AllocationKind::Heap)
    }

    pub fn allocate_as(
        &self,
        len: u64,
        name: &str,
        kind: AllocationKind,
    ) -> Result<u64, OutOfMemory> {
        let base = self.arena_of(kind).allocate(len)?;
        let tracked = self.sanitize && kind == AllocationKind::Heap;
        self.insert(AllocationInfo { base, len, name: name.to_owned(), kind }, tracked);
        Ok(base)
    }

    fn arena_of(&self, kind: AllocationKind) -> &Arena {
        if kind == AllocationKind::Foreign { &self.shared } else { &self.arena }
    }

    /// The host address of the byte at `address`, of which nothing is said.
    pub fn host(&self, address: u64) -> u64 {
        self.arena.window().host(address)
    }

    /// Device addresses for `len` bytes of a shared mapping that begins at `host` and that the caller
    /// keeps alive, until [`Self::forsake`]; the host's own where memory is not apart. Kernels reach of
    /// them what is [registered](Self::register).
    ///
    /// # Errors
    /// Where there is no room, or the system cannot map memory twice.
    pub fn adopt(&self, host: u64, len: u64) -> Result<u64, OutOfMemory> {
        if self.is_apart() { self.arena.adopt(host, len) } else { Ok(host) }
    }

    /// Take back the device addresses of `len` bytes that were adopted.
    pub fn forsake(&self, base: u64, len: u64) {
        if self.is_apart() {
            self.arena.free(base, len);
        }
    }

    fn is_apart(&self) -> bool {
        self.arena.is_apart()
    }

    /// Bytes of the host's memory that the last launch read, and those that it wrote, in whole sectors.
    /// Nothing where device memory is not apart: the two cannot be told from each other then.
    pub fn touched_host_bytes(&self) -> u64 {
        if !self.is_apart() {
            return 0;
        }
        let table = self.table.read().unwrap_or_else(|e| e.into_inner());
        let hosts = table.iter().filter(|range| !DeviceWindow::holds(range.info.base));
        SECTOR * hosts.map(|range| range.touched()).sum::<u64>()
    }

    /// Let kernels call `malloc`.
    ///
    /// # Errors
    /// Where there is no room for its heap.
    pub fn provide_heap(&self) -> Result<(), OutOfMemory> {
        if self.heap.get().is_none() {
            let heap = self.new_heap(HEAP_BYTES)?;
            let _ = self.heap.set(Arc::new(Mutex::new(heap)));
        }
        Ok(())
    }

    fn new_heap(&self, bytes: u64) -> Result<Heap, OutOfMemory> {
        let base = self.allocate_as(bytes, "the heap", AllocationKind::Variable)?;
        Ok(Heap::new(base, bytes))
    }

    /// Gives kernels a heap of another size; false once a kernel has used it.
    ///
    /// # Errors
    /// Where there is no room for it.
    pub fn resize_heap(&self, bytes: u64) -> Result<bool, OutOfMemory> {
        self.provide_heap()?;
        let Some(heap) = self.heap.get() else { return Ok(false) };
        let mut heap = heap.lock().unwrap_or_else(|e| e.into_inner());
        if heap.is_touched() {
            return Ok(false);
        }
        let resized = self.new_heap(bytes)?;
        self.free(heap.base());
        *heap = resized;
        Ok(true)
    }

    /// False if `base` is not the start of a live allocation of our own.
    pub fn free(&self, base: u64) -> bool {
        let Some(info) = self.remove(base) else { return false };
        self.arena_of(info.kind).free(info.base, info.len);
        let mut freed = self.freed.write().unwrap_or_else(|e| e.into_inner());
        if freed.len() == REMEMBERED {
            freed.remove(0);
        }
        freed.push(info);
        true
    }

    /// Let kernels reach `len` bytes of memory that somebody else keeps alive, and in which nothing
    /// is defined if it is `blank`.
    pub fn register(&self, base: u64, len: u64, name: &str, blank: bool) {
        let kind = AllocationKind::Foreign;
        let info = AllocationInfo { base, len, name: name.to_owned(), kind };
        self.insert(info, self.sanitize && blank);
    }

    /// The host has written `len` bytes, of one allocation or of none.
    pub fn define(&self, address: u64, len: u64) {
        let table = self.table.read().unwrap_or_else(|e| e.into_inner());
        if self.sanitize
            && let Some(index) = locate(&table, address)
        {
            table[index].define(address, len);
        }
    }

    /// False if nothing was registered at `base`.
    pub fn unregister(&self, base: u64) -> bool {
        self.remove(base).is_some()
    }

    /// The live allocation that holds `address`.
    pub fn find(&self, address: u64) -> Option<AllocationInfo> {
        let table = self.table.read().unwrap_or_else(|e| e.into_inner());
        locate(&table, address).map(|index| table[index].info.clone())
    }

    /// Bytes free and in all.
    pub fn room(&self) -> (u64, u64) {
        self.arena.room()
    }

    /// Everything live now, in order of address, with no sector touched.
    pub fn snapshot(&self) -> Snapshot {
        let ranges = self.table.read().unwrap_or_else(|e| e.into_inner()).clone();
        ranges.iter().for_each(|range| range.clear());
        let freed = self.freed.read().unwrap_or_else(|e| e.into_inner()).clone();
        Snapshot { ranges, freed, heap: self.heap.get().cloned(), window: self.arena.window() }
    }

    fn insert(&self, info: AllocationInfo, tracked: bool) {
        let mut table = self.table.write().unwrap_or_else(|e| e.into_inner());
        let at = table.partition_point(|range| range.info.base < info.base);
        let known = tracked.then(|| Known::new(info.len));
        table.insert(at, Arc::new(Range { known, ..Range::new(info) }));
    }

    fn remove(&self, base: u64) -> Option<AllocationInfo> {
        let mut table = self.table.write().unwrap_or_else(|e| e.into_inner());
        let index = table.binary_search_by_key(&base, |range| range.info.base).ok()?;
        Some(table.remove(index).info.clone())
    }
}

/// Global memory as one launch sees it.
#[derive(Clone)]
pub struct Snapshot {
    ranges: Vec<Arc<Range>>,
    freed: Vec<AllocationInfo>,
    heap: Option<Arc<Mutex<Heap>>>,
    pub window: DeviceWindow,
}

impl Snapshot {
    /// The host address of the byte at `address`.
    #[inline(always)]
    pub fn host(&self, address: u64) -> u64 {
        self.window.host(address)
    }

    /// A block of the device's heap.
    pub fn device_malloc(&self, bytes: u64) -> Option<u64> {
        self.heap.as_ref()?.lock().unwrap_or_else(|e| e.into_inner()).allocate(bytes)
    }

    /// False for what `device_malloc` did not give.
    pub fn device_free(&self, address: u64) -> bool {
        let heap = self.heap.as_ref();
        heap.is_some_and(|heap| heap.lock().unwrap_or_else(|e| e.into_inner()).free(address))
    }

    /// Index of the allocation that holds `address`.
    pub fn locate(&self, address: u64) -> Option<usize> {
        locate(&self.ranges, address)
    }

    pub fn range(&self, index: usize) -> &Arc<Range> {
        &self.ranges[index]
    }

    /// Let kernels read the parameters by address.
    pub fn add_parameters(&mut self, base: u64, len: u64) {
        let name = "the parameters".to_owned();
        self.add(AllocationInfo { base, len, name, kind: AllocationKind::Constant });
    }

    /// Let kernels use the words of the grid's barrier.
    pub fn add_workspace(&mut self, base: u64, len: u64) {
        let name = "the grid's barrier".to_owned();
        self.add(AllocationInfo { base, len, name, kind: AllocationKind::GridBarrier });
    }

    fn add(&mut self, info: AllocationInfo) {
        let base = info.base;
        let at = self.ranges.partition_point(|range| range.info.base < base);
        self.ranges.insert(at, Arc::new(Range::new(info)));
    }

    /// The allocation nearest to an address that none holds: the one it overruns or underruns.
    pub fn nearest(&self, address: u64) -> Option<&AllocationInfo> {
        let distance = |info: &AllocationInfo| {
            info.base.saturating_sub(address).max(address.saturating_sub(info.base + info.len))
        };
        self.ranges.iter().map(|range| &range.info).min_by_key(|info| distance(info))
    }

    /// The allocation that used to hold `address`.
    pub fn freed(&self, address: u64) -> Option<&AllocationInfo> {
        self.freed
            .iter()
            .rev()
            .find(|info| address >= info.base && address < info.base + info.len.max(1))
    }
}

fn locate(ranges: &[Arc<Range>], address: u64) -> Option<usize> {
    let index = ranges.partition_point(|range| range.info.base <= address).checked_sub(1)?;
    (address < ranges[index].end()).then_some(index)
}
