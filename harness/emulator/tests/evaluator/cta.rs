//! A grid: one CTA after the other, in each of them one thread after the other as far as it gets alone.

use super::Result;
use super::code::Program;
use super::meeting::meet;
use super::thread::{ARRAY, Shared, State, Thread};

/// A launch of a kernel whose one parameter is the address of an array.
pub struct Grid<'a> {
    pub text: &'a str,
    pub kernel: &'a str,
    pub blocks: u32,
    pub threads: u32,
}

/// Instructions of a thread, after which it is taken not to end.
const MOST_STEPS: u64 = 10_000_000;

impl Grid<'_> {
    /// What the array holds afterwards, and how many instructions threads took.
    pub fn run(&self, array: &mut [u8]) -> Result<u64> {
        let module = ptx::parse(self.text).map_err(|error| error.to_string())?;
        let program = Program::new(&module)?;
        let named = |code: &super::code::Code| code.name == self.kernel;
        let kernel = program.functions.iter().position(named).ok_or("no such kernel")?;
        let mut params = ARRAY.to_le_bytes();
        let mut steps = 0;
        for block in 0..self.blocks {
            let mut shared = vec![0; program.shared as usize];
            let place = |thread| [thread, self.threads, block, self.blocks];
            let mut threads: Vec<_> =
                (0..self.threads).map(|t| Thread::new(&program, kernel, place(t))).collect();
            let mut memories = Shared { global: array, shared: &mut shared, params: &mut params };
            while threads.iter().any(|thread| thread.state != State::Ended) {
                let mut moved = false;
                for thread in &mut threads {
                    let before = steps;
                    while thread.state == State::Running {
                        thread.step(&program, &mut memories)?;
                        steps += 1;
                        if steps - before > MOST_STEPS {
                            return Err(format!("thread {:?} does not end", thread.place));
                        }
                    }
                    moved |= steps > before;
                }
                for warp in threads.chunks_mut(32) {
                    moved |= release_lanes(&program, warp)?;
                }
                moved |= release_barrier(&mut threads);
                if !moved {
                    return Err("every thread waits for another".to_owned());
                }
            }
        }
        Ok(steps)
    }
}

/// Let go on whoever stands with all the lanes it waits for. Lanes that have ended are not waited for.
fn release_lanes(program: &Program, warp: &mut [Thread]) -> Result<bool> {
    let mut released = false;
    for n in 0..warp.len() {
        let State::Meeting(meeting) = &warp[n].state else { continue };
        let (mask, at) = (meeting.mask, warp[n].at());
        let expected = |t: &Thread| mask >> t.lane() & 1 == 1 && t.state != State::Ended;
        let here = |t: &Thread| {
            matches!(&t.state, State::Meeting(other) if other.mask == mask) && t.at() == at
        };
        let group: Vec<_> = (0..warp.len()).filter(|&k| expected(&warp[k])).collect();
        if !group.iter().all(|&k| here(&warp[k])) {
            continue;
        }
        let &(function, next) = at.last().ok_or("a frame")?;
        meet(program, &program.functions[function].instructions[next - 1], warp, &group)?;
        released = true;
    }
    Ok(released)
}

fn release_barrier(threads: &mut [Thread]) -> bool {
    let arrived = threads.iter().filter(|t| t.state == State::Barrier).count();
    let living = threads.iter().filter(|t| t.state != State::Ended).count();
    if arrived == 0 || arrived < living {
        return false;
    }
    for thread in threads.iter_mut().filter(|t| t.state == State::Barrier) {
        thread.state = State::Running;
    }
    true
}
