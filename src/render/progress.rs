//! One status line on stderr, redrawn in place: what is happening, and for how long.
//!
//! A thread owns the line, so that the seconds count on while a kernel runs and no event arrives.

use std::{
    io::Write as _,
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use judge::{Event, batch::Step};

use super::{batch, clean::clean, style, words};

/// Our end of the channel; dropping it takes the line away.
pub struct Progress(Option<(Sender<Line>, JoinHandle<()>)>);

/// What is being done, and how far it is. The seconds count from the beginning of the step.
#[derive(Debug, PartialEq)]
struct Line {
    step: String,
    detail: String,
    /// Said when the next step begins, and left standing: what took long and happens only once.
    afterwards: Option<String>,
}

const TICK: Duration = Duration::from_millis(100);

impl Progress {
    pub fn silent() -> Self {
        Self(None)
    }

    pub fn start() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self(Some((sender, thread::spawn(move || show(&receiver)))))
    }

    pub fn event(&self, event: &Event) {
        if let (Some((sender, _)), Some(line)) = (&self.0, line(event)) {
            // The thread ends only after this sender is gone.
            let _ = sender.send(line);
        }
    }
}

impl Progress {
    /// How far many files are, and what is done with those that are worked on.
    pub fn batch(&self, done: usize, count: usize, running: impl Iterator<Item = (Step, String)>) {
        let Some((sender, _)) = &self.0 else { return };
        let running: Vec<String> =
            running.map(|(step, file)| format!("{} {file}", batch::step(step))).collect();
        let detail = format!("  {}", running.join(", "));
        let step = format!("{done} of {count} done");
        let _ = sender.send(Line { step, detail, afterwards: None });
    }
}

impl Progress {
    /// How far a batch is that an engine has in hand.
    pub fn elsewhere(&self, done: usize, count: usize, orders: usize, engine: &str) {
        let Some((sender, _)) = &self.0 else { return };
        let detail = format!("  {} with {engine}", words::count(orders as u64, "chunk"));
        let step = format!("{done} of {count} done");
        let _ = sender.send(Line { step, detail, afterwards: None });
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Until the sender is gone. What cannot be written is nobody's loss.
fn show(lines: &Receiver<Line>) {
    let mut stderr = anstream::stderr();
    let mut current: Option<(Line, Instant)> = None;
    let mut drawn: Option<Instant> = None;
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                current = Some(match current.take() {
                    Some((before, since)) if before.step == line.step => (line, since),
                    Some((Line { afterwards: Some(afterwards), .. }, since)) => {
                        let waited = words::waited(since.elapsed().as_secs_f64());
                        let _ = writeln!(stderr, "\r\x1b[K{afterwards} in {waited}");
                        (line, Instant::now())
                    }
                    _ => (line, Instant::now()),
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        // Cases of a small problem end faster than anybody reads, and a terminal is slow.
        if drawn.is_none_or(|last| last.elapsed() >= TICK / 2)
            && let Some((line, since)) = &current
        {
            let _ = write!(stderr, "\r\x1b[K{}", clean(&drawing(line, since.elapsed())));
            let _ = stderr.flush();
            drawn = Some(Instant::now());
        }
    }
    let _ = write!(stderr, "\r\x1b[K");
    let _ = stderr.flush();
}

fn drawing(line: &Line, elapsed: Duration) -> String {
    const SPINNER: [char; 8] = ['⣾', '⣽', '⣻', '⢿', '⡿', '⣟', '⣯', '⣷'];
    let turn = (elapsed.as_millis() / TICK.as_millis()) as usize;
    let waited = match elapsed.as_secs() {
        0 => String::new(),
        seconds => format!("  {seconds} s"),
    };
    let text = format!("{}{}", line.step, line.detail);
    format!(
        "{} {}{}",
        style::paint(style::ACCENT, SPINNER[turn % SPINNER.len()]),
        words::cut(&text, words::COLUMNS - 3 - waited.len()),
        style::paint(style::DIM, waited)
    )
}

/// What an event means for somebody who waits; nothing for those that end a step.
fn line(event: &Event) -> Option<Line> {
    let (step, detail, afterwards) = match event {
        Event::Toolchain(event) => return toolchain_line(event),
        Event::CaseStarted { name, index, count } => {
            ("checking ".to_owned(), format!("{} of {count}: {name}", index + 1), None)
        }
        Event::BenchStarted { name, index, count } => {
            ("timing ".to_owned(), format!("{} of {count}: {name}", index + 1), None)
        }
        Event::WaitingForGpu => ("waiting for the GPU".to_owned(), String::new(), None),
        Event::CaseFinished(_) | Event::Warning(_) => return None,
    };
    Some(Line { step, detail, afterwards })
}

fn toolchain_line(event: &toolchain::Event) -> Option<Line> {
    use toolchain::Event;
    let (step, detail, afterwards) = match event {
        Event::Installing { what, done, total } => {
            let far = match total {
                Some(total) if *total > 0 => {
                    let bar = words::bar(*done as f64 / *total as f64 * 100.0, 16);
                    format!("  {bar:░<16} {} of {}", words::bytes(*done), words::bytes(*total))
                }
                _ if *done > 0 => format!("  {}", words::bytes(*done)),
                _ => String::new(),
            };
            let tick = style::paint(style::GOOD, "✓");
            (format!("installing {what}"), far, Some(format!("{tick} installed {what}")))
        }
        Event::Compiling { file, arch } => {
            (format!("compiling {file} for {arch}"), String::new(), None)
        }
        Event::Compiled { .. } | Event::Warning(_) => return None,
    };
    Some(Line { step, detail, afterwards })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_read_as_sentences() {
        let installing = |done, total| {
            let what = "nvcc".into();
            Event::Toolchain(toolchain::Event::Installing { what, done, total })
        };
        let compiling = toolchain::Event::Compiling { file: "k.cu".into(), arch: "sm_100a".into() };
        let lines: Vec<String> = [
            installing(0, None),
            installing(3 << 20, None),
            installing(43 << 20, Some(86 << 20)),
            Event::Toolchain(compiling),
            Event::CaseStarted { name: "32x64 ties".into(), index: 0, count: 42 },
            Event::BenchStarted { name: "1024x1024".into(), index: 3, count: 4 },
        ]
        .iter()
        .filter_map(line)
        .map(|line| line.step + &line.detail)
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        installing nvcc
        installing nvcc  3 MiB
        installing nvcc  ████████░░░░░░░░ 43 MiB of 86 MiB
        compiling k.cu for sm_100a
        checking 1 of 42: 32x64 ties
        timing 4 of 4: 1024x1024
        ");
    }
}
