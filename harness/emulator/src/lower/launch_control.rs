//! Operands of `clusterlaunchcontrol` (PTX ISA 9.7.13.17-18); what the answer holds, `exec::launch_control`
//! says.

use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use super::{Reg, Width};
use crate::exec::Handlers;
use crate::exec::bulk::MULTICAST;

impl Selector {
    /// `try_cancel [answer], [mbar]`.
    pub fn try_cancel(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [to, barrier] = flat.operands.as_slice() else { return Err(String::new()) };
        let mut op = self.op(handlers);
        op.list = vec![self.shared_address(to)?, self.shared_address(barrier)?];
        op.flags = if flat.has("multicast::cluster::all") { MULTICAST } else { 0 };
        op.memory = true;
        self.ops.push(op);
        Ok(())
    }

    /// `query_cancel.is_canceled p, answer` · `query_cancel.get_first_ctaid {x, y, z, _}, answer` ·
    /// `query_cancel.get_first_ctaid::x d, answer`.
    pub fn query_cancel(&mut self, flat: &Flat) -> Result<(), Refusal> {
        let [dst, answer] = flat.operands.as_slice() else { return Err(String::new()) };
        let halves = Self::elements(answer);
        let [Value::Register(low), Value::Register(high)] = halves.as_slice() else {
            return Err("its answer".to_owned());
        };
        let words = [(*low, 32), (*high, 0), (*high, 32)];
        if flat.has("is_canceled") {
            let (dst, cancelled) = (self.written(dst)?, self.registers.fresh(Width::Narrow));
            let zero = self.registers.constant(0);
            self.helper("cvt", &["u32", "u64"], cancelled, &[*low])?;
            return self.helper("setp", &["ne", "u32"], dst, &[cancelled, zero]);
        }
        if flat.has("get_first_ctaid") {
            for (dst, from) in Self::elements(dst).iter().zip(words) {
                self.word_of_answer(dst, from)?;
            }
            return Ok(());
        }
        let axes = ["get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"];
        let axis = axes.iter().position(|axis| flat.has(axis)).ok_or_else(String::new)?;
        self.word_of_answer(dst, words[axis])
    }

    /// A word of a register of 64 bits, from this bit on.
    fn word_of_answer(&mut self, dst: &Value, (half, bit): (Reg, u32)) -> Result<(), Refusal> {
        let dst = self.written(dst)?;
        let (word, by) = (self.registers.fresh(Width::Wide), self.registers.constant(bit));
        self.helper("shr", &["u64"], word, &[half, by])?;
        self.helper("cvt", &["u32", "u64"], dst, &[word])
    }
}
