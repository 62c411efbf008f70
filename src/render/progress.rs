//! One status line on stderr, redrawn in place: what is happening, and for how long.
//!
//! A thread owns the line, so that the seconds count on while a kernel runs and no event arrives.

use std::{
    io::Write as _,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use harness::Event;

use super::{style, words};

/// The line's end of the channel; dropping it takes the line away.
pub struct Progress(Option<(Sender<String>, JoinHandle<()>)>);

const TICK: Duration = Duration::from_millis(100);

impl Progress {
    pub fn silent() -> Self {
        Self(None)
    }

    pub fn start() -> Self {
        let (sender, receiver) = mpsc::channel::<String>();
        let thread = thread::spawn(move || {
            const SPINNER: [char; 8] = ['⣾', '⣽', '⣻', '⢿', '⡿', '⣟', '⣯', '⣷'];
            let (mut text, mut since, mut turn) = (String::new(), Instant::now(), 0);
            loop {
                match receiver.recv_timeout(TICK) {
                    Ok(next) => (text, since) = (next, Instant::now()),
                    Err(RecvTimeoutError::Timeout) => turn += 1,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if !text.is_empty() {
                    draw(SPINNER[turn % SPINNER.len()], &text, since.elapsed());
                }
            }
            let _ = write!(anstream::stderr().lock(), "\r\x1b[K");
        });
        Self(Some((sender, thread)))
    }

    pub fn event(&self, event: &Event) {
        if let (Some((sender, _)), Some(text)) = (&self.0, sentence(event)) {
            // The thread ends only after this sender is gone.
            let _ = sender.send(text);
        }
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

fn draw(spinner: char, text: &str, elapsed: Duration) {
    let waited = match elapsed.as_secs_f64() {
        s if s < 1.0 => String::new(),
        s => format!("  {s:.0} s"),
    };
    let text = words::cut(text, words::COLUMNS - 3 - waited.len());
    let _ = write!(
        anstream::stderr().lock(),
        "\r\x1b[K{} {text}{}",
        style::paint(style::ACCENT, spinner),
        style::paint(style::DIM, waited)
    );
}

/// What an event means for somebody who waits; nothing for those that end a step.
fn sentence(event: &Event) -> Option<String> {
    match event {
        Event::Installing { what, done, total: Some(total) } if *total > 0 => {
            let percent = *done as f64 / *total as f64 * 100.0;
            let bar = words::bar(percent, 20);
            Some(format!(
                "installing {what}  {bar:░<20} {} of {}",
                words::bytes(*done),
                words::bytes(*total)
            ))
        }
        Event::Installing { what, done: 0, .. } => Some(format!("installing {what}")),
        Event::Installing { what, done, .. } => {
            Some(format!("installing {what}  {}", words::bytes(*done)))
        }
        Event::Compiling { file, arch } => Some(format!("compiling {file} for {arch}")),
        Event::CaseStarted { name, index, count } => {
            Some(format!("checking {} of {count}: {name}", index + 1))
        }
        Event::BenchStarted { name, index, count } => {
            Some(format!("timing {} of {count}: {name}", index + 1))
        }
        Event::Compiled { .. } | Event::CaseFinished(_) | Event::Warning(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_read_as_sentences() {
        let installing = |done, total| Event::Installing { what: "nvcc".into(), done, total };
        let lines: Vec<String> = [
            installing(0, None),
            installing(3 << 20, None),
            installing(43 << 20, Some(86 << 20)),
            Event::Compiling { file: "k.cu".into(), arch: "sm_100a".into() },
            Event::CaseStarted { name: "32x64 ties".into(), index: 0, count: 42 },
            Event::BenchStarted { name: "1024x1024".into(), index: 3, count: 4 },
        ]
        .iter()
        .filter_map(sentence)
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        installing nvcc
        installing nvcc  3 MiB
        installing nvcc  ██████████░░░░░░░░░░ 43 MiB of 86 MiB
        compiling k.cu for sm_100a
        checking 1 of 42: 32x64 ties
        timing 4 of 4: 1024x1024
        ");
    }
}
