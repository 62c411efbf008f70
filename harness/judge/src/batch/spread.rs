//! A batch in chunks, by an engine.
//!
//! A chunk is as many runs as make it worth starting a process somewhere: Slurm takes seconds for each.
//! What is left of a chunk when it ends is judged by *how* it ended:
//!
//! ```text
//! 0, 1, 2        its runs have had their turn; what has no attempt cannot have one
//! 3              this node lacks something: elsewhere, and never again there
//! a signal, or   again, at most three times: it may be the run that kills them
//! a lost node
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::thread;

use super::engine::{End, Engine, Order, State};
use crate::{Error, Interrupt};

/// How often a run is begun, at most.
pub const TRIES: u32 = 3;

/// What goes on, for whoever shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tiding {
    /// So many orders are with the engine, and so many runs are done.
    Far { orders: usize, done: usize },
    /// A node lacks something and is left out.
    Excluded(String),
    /// An order was killed, or its node was lost; so many runs are begun again.
    Again(usize),
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Runs that were killed [`TRIES`] times.
    pub lost: BTreeSet<usize>,
    /// An order ended with 3 where there is nowhere else to go; where it wrote.
    pub lacking: Option<std::path::PathBuf>,
}

struct Running {
    job: String,
    places: Vec<usize>,
    log: std::path::PathBuf,
}

/// Has the runs at `places` done, `chunk` of them with each order. `order` makes the one for some
/// places; `done` says which places need nothing more.
///
/// # Errors
///
/// [`Error`] where the engine is not there, refuses an order, or does not answer.
pub fn spread(
    engine: &mut dyn Engine,
    places: &[usize],
    chunk: usize,
    interrupt: &Interrupt,
    order: &dyn Fn(&[usize], usize) -> Order,
    done: &mut dyn FnMut() -> BTreeSet<usize>,
    tell: &mut dyn FnMut(Tiding),
) -> Result<Spread, Error> {
    let mut waiting: VecDeque<Vec<usize>> =
        places.chunks(chunk.max(1)).map(<[usize]>::to_vec).collect();
    let mut running: Vec<Running> = Vec::new();
    let mut tries: BTreeMap<usize, u32> = BTreeMap::new();
    let mut excluded: Vec<String> = Vec::new();
    let mut spread = Spread::default();
    let mut started = 0;
    while !(waiting.is_empty() && running.is_empty()) {
        if interrupt.raised() || spread.lacking.is_some() {
            break;
        }
        while running.len() < engine.capacity()
            && let Some(places) = waiting.pop_front()
        {
            let order = Order { excluded: excluded.clone(), ..order(&places, started) };
            started += 1;
            match engine.start(&order) {
                Ok(job) => running.push(Running { job, places, log: order.log }),
                Err(error) => {
                    stop(engine, &running);
                    return Err(error);
                }
            }
        }
        thread::sleep(engine.pause());
        let mut alive = Vec::new();
        for one in running {
            let State::Ended { how, node } = engine.look(&one.job)? else {
                alive.push(one);
                continue;
            };
            let finished = done();
            let missing: Vec<usize> =
                one.places.into_iter().filter(|place| !finished.contains(place)).collect();
            if matches!(how, End::Exited(0..=2)) || missing.is_empty() {
                continue;
            }
            if how == End::Exited(3) {
                let Some(node) = node.filter(|node| !excluded.contains(node)) else {
                    spread.lacking = Some(one.log);
                    continue;
                };
                tell(Tiding::Excluded(node.clone()));
                excluded.push(node);
                waiting.push_back(missing);
                continue;
            }
            let (again, lost): (Vec<usize>, Vec<usize>) = missing.into_iter().partition(|place| {
                let tries = tries.entry(*place).or_insert(0);
                *tries += 1;
                *tries < TRIES
            });
            spread.lost.extend(lost);
            if !again.is_empty() {
                tell(Tiding::Again(again.len()));
                waiting.push_back(again);
            }
        }
        running = alive;
        tell(Tiding::Far { orders: running.len(), done: done().len() });
    }
    stop(engine, &running);
    Ok(spread)
}

fn stop(engine: &mut dyn Engine, running: &[Running]) {
    for one in running {
        engine.stop(&one.job);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    /// Ends its orders as it was told, in the order in which they are started.
    struct Scripted {
        ends: VecDeque<(End, Option<&'static str>)>,
        started: Vec<Vec<String>>,
    }

    impl Engine for Scripted {
        fn name(&self) -> &'static str {
            "scripted"
        }
        fn capacity(&self) -> usize {
            1
        }
        fn pause(&self) -> Duration {
            Duration::ZERO
        }
        fn start(&mut self, order: &Order) -> Result<String, Error> {
            self.started.push(order.excluded.clone());
            Ok("job".to_owned())
        }
        fn look(&mut self, _job: &str) -> Result<State, Error> {
            let (how, node) = self.ends.pop_front().unwrap_or((End::Exited(0), None));
            Ok(State::Ended { how, node: node.map(str::to_owned) })
        }
        fn stop(&mut self, _job: &str) {}
    }

    /// Runs are done when their order ends with 0; of a killed one the first is.
    fn run(
        ends: &[(End, Option<&'static str>)],
    ) -> (Spread, Scripted, Vec<Tiding>, BTreeSet<usize>) {
        let mut engine = Scripted { ends: ends.iter().copied().collect(), started: Vec::new() };
        let ordered = RefCell::new(Vec::new());
        let finished = RefCell::new(BTreeSet::new());
        let script = RefCell::new(ends.iter().copied().collect::<VecDeque<_>>());
        let order = |places: &[usize], _: usize| {
            ordered.borrow_mut().push(places.to_vec());
            match script.borrow_mut().pop_front() {
                None | Some((End::Exited(0), _)) => finished.borrow_mut().extend(places),
                Some((End::Killed, _)) if places.len() > 1 => {
                    finished.borrow_mut().insert(places[0]);
                }
                Some(_) => {}
            }
            Order {
                command: Vec::new(),
                directory: PathBuf::new(),
                log: PathBuf::from("log"),
                gpu: false,
                excluded: Vec::new(),
            }
        };
        let mut tidings = Vec::new();
        let spread = spread(
            &mut engine,
            &[0, 1, 2, 3],
            2,
            &Interrupt::default(),
            &order,
            &mut || finished.borrow().clone(),
            &mut |tiding| tidings.push(tiding),
        );
        let finished = finished.borrow().clone();
        (spread.unwrap(), engine, tidings, finished)
    }

    #[test]
    fn what_a_killed_order_left_is_begun_again() {
        let (spread, _, tidings, finished) = run(&[(End::Killed, Some("n1"))]);
        assert_eq!(spread, Spread::default());
        assert_eq!(finished.len(), 4);
        assert!(tidings.contains(&Tiding::Again(1)));
    }

    #[test]
    fn a_run_that_kills_its_process_is_given_up() {
        // The first order loses its second run; that run alone, after the other order, twice more.
        let killed = (End::Killed, None);
        let (spread, engine, ..) = run(&[killed, (End::Exited(0), None), killed, killed]);
        assert_eq!(spread.lost, BTreeSet::from([1]));
        assert_eq!(engine.started.len(), 4);
    }

    #[test]
    fn a_node_that_lacks_something_is_left_out() {
        let (spread, engine, tidings, finished) = run(&[(End::Exited(3), Some("n1"))]);
        assert_eq!((spread, finished.len()), (Spread::default(), 4));
        assert!(tidings.contains(&Tiding::Excluded("n1".to_owned())));
        assert_eq!(engine.started, [vec![], vec!["n1".to_owned()], vec!["n1".to_owned()]]);
    }

    #[test]
    fn where_there_is_no_other_node_it_ends() {
        let (spread, engine, ..) = run(&[(End::Exited(3), None)]);
        assert_eq!(spread.lacking, Some(PathBuf::from("log")));
        assert_eq!(engine.started.len(), 1);
    }

    /// A verdict that cannot be recorded (a file with a bad directive) is no reason to try again.
    #[test]
    fn what_has_had_its_turn_is_not_begun_again() {
        let (spread, engine, ..) = run(&[(End::Exited(2), Some("n1"))]);
        assert_eq!((spread, engine.started.len()), (Spread::default(), 2));
    }
}
