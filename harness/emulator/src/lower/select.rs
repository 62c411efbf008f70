//! Choosing operations: instruction by instruction, into basic blocks.
//!
//! What its operands are in registers is asked of `operands.rs`. A guarded instruction becomes a branch
//! around it, so that nothing else needs to know of guards. An instruction that is not understood becomes
//! an operation that says so when it runs.

use super::effects;
use super::flatten::{Base, Flat, Flattened, Frame, Item, Value};
use super::outlined::Body;
use super::wgmma;
use super::{Block, End, LowerError, Op, Reg, Registers};
use crate::exec::system::NO_RESULT;
use crate::exec::{Core, Flow, Handlers, once};
use crate::isa::{self, Kind, Machine, Modifiers};
use crate::program::Inst;

pub struct Selected {
    pub blocks: Vec<Block>,
    pub registers: Registers,
    pub frame: Frame,
    /// The block of each label; `usize::MAX` for one that nothing leads to.
    pub labels: Vec<usize>,
    pub bodies: Vec<Body>,
}

/// Why one instruction cannot be selected: what is not supported.
pub type Refusal = String;

pub struct Selector {
    pub registers: Registers,
    pub frame: Frame,
    blocks: Vec<Block>,
    /// The block of each label.
    labels: Vec<usize>,
    pub ops: Vec<Op>,
    origin: u32,
    /// The carry flag, once an instruction has named it.
    pub carry: Option<Reg>,
}

pub fn select(flat: Flattened) -> Result<Selected, LowerError> {
    let mut selector = Selector {
        registers: flat.registers,
        frame: flat.frame,
        blocks: Vec::new(),
        labels: vec![usize::MAX; flat.labels],
        ops: Vec::new(),
        origin: 0,
        carry: None,
    };
    // Labels get blocks first, numbered as they come; code between gets blocks after.
    let mut first = 0;
    let mut current = selector.new_block();
    for item in flat.items {
        match item {
            Item::Label(label) => {
                let block = selector.block_of(label);
                selector.finish(current, End::Jump(block), first);
                first = selector.next_origin(first);
                current = block;
            }
            Item::Flat(instruction) => {
                selector.origin = instruction.origin;
                current = selector.instruction(instruction, current, &mut first);
            }
        }
    }
    selector.finish(current, End::Leave, first);
    let mut sums = std::mem::take(&mut selector.frame.sums);
    sums.sort_unstable();
    sums.dedup();
    for op in selector.blocks.iter_mut().flat_map(|block| &mut block.ops) {
        if op.delivers {
            wgmma::deliver(op, &sums);
        }
    }
    let Selector { blocks, registers, frame, labels, .. } = selector;
    Ok(Selected { blocks, registers, frame, labels, bodies: flat.bodies })
}

impl Selector {
    fn new_block(&mut self) -> usize {
        self.blocks.push(Block { ops: Vec::new(), end: End::Leave, origins: 0..0 });
        self.blocks.len() - 1
    }

    fn block_of(&mut self, label: usize) -> usize {
        if self.labels[label] == usize::MAX {
            self.labels[label] = self.new_block();
        }
        self.labels[label]
    }

    /// Close a block with what was selected since the last one.
    fn finish(&mut self, block: usize, end: End, first: u32) {
        let last = if self.origin >= first { self.origin + 1 } else { first };
        let has_any = !self.frame.origins.is_empty();
        self.blocks[block].ops = std::mem::take(&mut self.ops);
        self.blocks[block].end = end;
        self.blocks[block].origins = if has_any { first..last } else { 0..0 };
    }

    /// Origins up to the current instruction belong to the block just closed.
    fn next_origin(&self, first: u32) -> u32 {
        if self.frame.origins.is_empty() { 0 } else { first.max(self.origin + 1) }
    }

    /// Select one instruction; the block where the next one goes.
    fn instruction(&mut self, flat: Flat, current: usize, first: &mut u32) -> usize {
        let leaves = matches!(
            &flat.form,
            Ok((row, _)) if matches!(row.kind, Kind::Branch | Kind::BranchIndexed | Kind::Leave)
        );
        if leaves {
            return self.leave(&flat, current, first);
        }
        let Some((guard, negated)) = flat.guard else {
            self.operation(&flat);
            return current;
        };
        let guarded = self.new_block();
        let after = self.new_block();
        let end = End::Branch { predicate: guard, negated, taken: guarded, next: after };
        self.finish(current, end, *first);
        *first = self.next_origin(*first);
        self.operation(&flat);
        // The instruction is counted once, with the branch around it.
        self.finish(guarded, End::Jump(after), *first);
        after
    }

    fn leave(&mut self, flat: &Flat, current: usize, first: &mut u32) -> usize {
        let after = self.new_block();
        let kind = flat.form.as_ref().map(|(row, _)| row.kind).ok();
        let target = match (kind, flat.operands.as_slice()) {
            (Some(Kind::Leave), _) => {
                let block = self.new_block();
                self.blocks[block].end = End::Leave;
                Ok(End::Jump(block))
            }
            (Some(Kind::Branch), [Value::Label(label)]) => Ok(End::Jump(self.block_of(*label))),
            (Some(Kind::BranchIndexed), [Value::Register(index), Value::Labels(labels)]) => {
                let targets = labels.iter().map(|&label| self.block_of(label)).collect();
                Ok(End::Switch { index: *index, targets })
            }
            _ => Err(format!("a branch to {:?}", flat.operands)),
        };
        let end = match (target, flat.guard) {
            (Ok(end), None) => end,
            (Ok(End::Jump(taken)), Some((predicate, negated))) => {
                End::Branch { predicate, negated, taken, next: after }
            }
            (Ok(_), Some(_)) => {
                self.refuse("a guarded brx");
                End::Jump(after)
            }
            (Err(what), _) => {
                self.refuse(&what);
                End::Leave
            }
        };
        self.finish(current, end, *first);
        *first = self.next_origin(*first);
        after
    }

    fn operation(&mut self, flat: &Flat) {
        let before = self.ops.len();
        let result = match &flat.form {
            Err(what) => Err(what.clone()),
            Ok((row, modifiers)) => self.select(row.kind, modifiers, flat).map_err(|what| {
                let name = [&[flat.opcode], flat.modifiers].concat().join(".");
                if what.is_empty() {
                    format!("`{name}` in this form")
                } else {
                    format!("{what} in `{name}`")
                }
            }),
        };
        match (&result, &flat.form) {
            (Err(what), _) => {
                self.ops.truncate(before);
                self.refuse(what);
            }
            (Ok(()), Ok((row, modifiers))) => {
                let origin = &mut self.frame.origins[flat.origin as usize];
                origin.idle = effects::idle(flat, row.kind);
                origin.machine = Machine::of(flat.opcode, flat.modifiers, &modifiers.types);
                if let (Kind::Mma(_) | Kind::WmmaMultiply(_), Some(form)) =
                    (row.kind, self.frame.multiplies.last())
                {
                    let products = self.ops.len() - before;
                    origin.machine = origin.machine.multiplying(form, products);
                }
            }
            _ => {}
        }
        if self.frame.sanitize
            && let Ok((row, modifiers)) = &flat.form
        {
            for op in &mut self.ops[before..] {
                let action =
                    op.action.unwrap_or_else(|| effects::action(flat, row.kind, modifiers, op));
                op.action = Some(action);
            }
        }
    }

    /// An operation that stops the launch.
    fn refuse(&mut self, what: &str) {
        self.frame.messages.push(what.to_owned());
        let mut op = Op::new(once!(refuse), self.origin);
        op.imm = self.frame.messages.len() as u64 - 1;
        self.ops.push(op);
    }

    fn select(&mut self, kind: Kind, modifiers: &Modifiers, flat: &Flat) -> Result<(), Refusal> {
        let operands = flat.operands.as_slice();
        match kind {
            Kind::Lanes(widths, handlers) if isa::operands(widths) == operands.len() => {
                self.lanes(widths, handlers, modifiers, operands)
            }
            Kind::Lanes(..) => {
                let found = isa::find_taking(flat.opcode, flat.modifiers, operands.len());
                let (row, modifiers) = found.ok_or_else(String::new)?;
                let Kind::Lanes(widths, handlers) = row.kind else { return Err(String::new()) };
                self.lanes(widths, handlers, &modifiers, operands)
            }
            Kind::Compare(widths, handlers) => self.compare(widths, handlers, modifiers, flat),
            Kind::ComparePair => self.compare_pair(flat),
            Kind::Set => self.set(modifiers, flat),
            Kind::Carry(widths, handlers) => self.carry(widths, handlers, modifiers, flat),
            Kind::Lookup(handlers) => self.lookup(handlers, flat),
            Kind::Video(handlers) => self.video(handlers, modifiers, flat),
            Kind::Four(handlers) => self.four(handlers, modifiers, operands),
            Kind::Load => self.load(flat, modifiers),
            Kind::Store => self.store(flat, modifiers),
            Kind::Atomic => self.atomic(flat, modifiers),
            Kind::Move => self.mov(modifiers, operands),
            Kind::ConvertAddress => self.convert_address(flat, operands),
            Kind::IsSpace => self.is_space(flat),
            Kind::Policy => {
                let Some(Value::Register(dst)) = operands.first() else {
                    return Err("its destination".to_owned());
                };
                let policy = self.registers.constant64(0);
                self.copy(*dst, policy);
                Ok(())
            }
            Kind::Shuffle(handlers) => self.shuffle(handlers, modifiers, operands),
            Kind::Vote(handlers) => self.vote(handlers, modifiers, operands),
            Kind::AcrossLanes(handlers) => self.across(handlers, modifiers, operands),
            Kind::WarpBarrier(handlers) => {
                let [mask] = operands else { return Err(String::new()) };
                let mut op = self.op(handlers);
                op.a = Some(self.narrow(mask)?);
                self.ops.push(op);
                Ok(())
            }
            Kind::System(handlers) => {
                let mut op = self.op(handlers);
                for operand in operands {
                    op.list.push(match operand {
                        Value::Memory { base: Base::Variable(place), .. } => {
                            self.narrow(&Value::Variable(*place, 0))?
                        }
                        _ => self.registers.constant(NO_RESULT),
                    });
                }
                self.ops.push(op);
                Ok(())
            }
            Kind::CopyAsync(handlers) => self.copy_async(handlers, flat),
            Kind::WaitGroup(handlers) => {
                let [Value::Integer(allowed)] = operands else { return Err(String::new()) };
                let mut op = self.op(handlers);
                op.imm = *allowed;
                self.ops.push(op);
                Ok(())
            }
            Kind::Mbarrier(handlers) => self.mbarrier(handlers, flat),
            Kind::StoreAsync(handlers) => self.store_async(handlers, modifiers, flat),
            Kind::Fill(handlers) => self.fill(handlers, flat),
            Kind::Bulk(handlers) => self.bulk(handlers, modifiers, flat),
            Kind::Tensor(handlers) => self.tensor(handlers, flat),
            Kind::MapField(handlers) => self.map_field(handlers, flat),
            Kind::MapCopy(handlers) => self.map_copy(handlers, flat),
            Kind::TryCancel(handlers) => self.try_cancel(handlers, flat),
            Kind::QueryCancel => self.query_cancel(flat),
            Kind::TensorMultiply(handlers) => self.tensor_multiply(handlers, flat),
            Kind::TensorCopy(handlers) => self.tensor_copy(handlers, flat),
            Kind::TensorCommit(handlers) => self.tensor_commit(handlers, flat),
            Kind::TensorMemory(handlers) => self.tensor_memory(handlers, flat),
            Kind::Barrier(handlers) => self.barrier(handlers, modifiers, flat),
            Kind::WmmaMove(handlers) => self.wmma_move(handlers, modifiers, flat),
            Kind::WmmaMultiply(handlers) => self.wmma_multiply(handlers, modifiers, flat),
            Kind::Mma(handlers) => self.mma(handlers, modifiers, flat),
            Kind::Wgmma(handlers) => self.wgmma(handlers, modifiers, flat),
            Kind::WgmmaWait(handlers) => self.wait_for_sums(handlers, operands),
            Kind::LoadRows(handlers) | Kind::StoreRows(handlers) => {
                self.rows(handlers, modifiers, flat)
            }
            Kind::Nothing => Ok(()),
            Kind::Plain(handlers) | Kind::Fence(handlers) => {
                let op = self.op(handlers);
                self.ops.push(op);
                Ok(())
            }
            Kind::Branch | Kind::BranchIndexed | Kind::Leave => Err(String::new()),
        }
    }

    pub fn op(&self, handlers: Handlers) -> Op {
        Op::new(handlers, self.origin)
    }
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn refuse(core: &mut Core, inst: &Inst) -> Flow {
    let what = core.program.messages.get(inst.imm as usize).cloned().unwrap_or_default();
    core.unsupported(&what)
}
