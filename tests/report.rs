//! `nibble report [-o DIR]`

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use leaderboard::attempt::{Kernel, Verdict};

use crate::support::{
    Made, Nibble, Page,
    browser::{self, Scheme},
};

/// No page is longer.
const LIMIT: usize = 300_000;
const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror='alert(2)'> & \u{202e}\u{0}";

/// Two boards with all kinds of attempts, and two that are damaged.
fn a_week_of_work(folder: &Path) {
    let first = Made::accepted("k.cu", 40.0).hours_old(90).message("one thread for each block");
    let first = first.record(folder);
    let wrong = Made::wrong("k.cu").hours_old(80).after(&first.id).record(folder);
    let broken = Made::wrong("k.cu").hours_old(70).after(&wrong.id).with(|made| {
        made.outcome.verdict = Verdict::CompileError;
        made.outcome.cases.clear();
        made.outcome.kernels.clear();
        made.outcome.fault = Some("k.cu:2:6: error: expected a \";\"\nk.cu:99: error".into());
    });
    let broken = broken.record(folder);
    let better = Made::accepted("k.cu", 4.0).registers(64).hours_old(60).after(&broken.id);
    let better = better.message("128-bit loads").record(folder);
    Made::accepted("k.cu", 4.4).hours_old(50).after(&better.id).record(folder);
    Made::accepted("k.cu", 3.0).hours_old(40).after(&better.id).record(folder);
    for (place, name) in ["bob", "carla", "dmitri"].into_iter().enumerate() {
        let us = 5.0 + 4.0 * place as f64;
        Made::accepted("other.cu", us).by(name).hours_old(30 - place as i64).record(folder);
        Made::accepted("gpu.cu", us).by(name).measured(0.3).hours_old(20).record(folder);
    }
    let damaged = Made::accepted("k.cu", 1.0).record(folder);
    let attempts = folder.join("leaderboard/attempts/mxfp4_quantize");
    fs::write(attempts.join(damaged.id.as_str()).join("attempt.toml"), "half a f").expect("a file");
    let lost = Made::accepted("lost.cu", 30.0).hours_old(10).record(folder);
    fs::remove_file(attempts.join(lost.id.as_str()).join("solution.cu")).expect("a file");
}

/// The pages of a report, parsed, by their paths.
#[track_caller]
fn read(folder: &Path, pages: &[String]) -> BTreeMap<String, (String, Page)> {
    let page = |path: &String| {
        let text = fs::read_to_string(folder.join(path)).expect("UTF-8");
        assert!(text.len() < LIMIT, "{path} has {} bytes", text.len());
        let page = Page::parse(path, &text);
        (path.clone(), (text, page))
    };
    pages.iter().map(page).collect()
}

#[track_caller]
fn report(nibble: Nibble) -> (Nibble, Vec<String>) {
    let nibble = nibble.again(["report", "-o", "out", "--json", "--quiet"]);
    let run = nibble.run().code(0);
    let pages = run.json()[0]["pages"].as_array().expect("pages").clone();
    (nibble, pages.iter().filter_map(|page| page.as_str().map(str::to_owned)).collect())
}

/// What a link on `page` leads to, relative to the report.
fn target(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn its_screen() {
    let nibble = Nibble::new(["report"]);
    a_week_of_work(&nibble.path());
    let run = nibble.run().code(0).fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_linked() {
    let nibble = Nibble::new(["report"]);
    a_week_of_work(&nibble.path());
    let (nibble, paths) = report(nibble);
    let folder = nibble.path().join("out");
    let pages = read(&folder, &paths);
    let mut reached = BTreeSet::from(["index.html".to_owned()]);
    let mut next = vec!["index.html".to_owned()];
    while let Some(path) = next.pop() {
        for link in &pages[&path].1.links {
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            if file.starts_with("data:") {
                continue;
            }
            let to = if file.is_empty() { path.clone() } else { target(&path, file) };
            assert!(folder.join(&to).is_file(), "{path} links to {link}");
            if let Some((_, page)) = pages.get(&to) {
                let known = fragment.is_empty() || page.ids.contains(fragment);
                assert!(known, "{path} links to {link}");
                if reached.insert(to.clone()) {
                    next.push(to);
                }
            }
        }
    }
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), paths);
}

#[test]
fn pages_can_be_read_by_everybody() {
    let nibble = Nibble::new(["report"]);
    a_week_of_work(&nibble.path());
    let (nibble, paths) = report(nibble);
    for (path, (text, page)) in read(&nibble.path().join("out"), &paths) {
        assert!(text.contains("<html lang=\"en\">"), "{path}");
        for landmark in ["h1", "main", "header", "footer"] {
            assert_eq!(page.count(landmark), 1, "{path}: {landmark}");
        }
        assert_eq!(page.count("table"), page.count("caption"), "{path}: a table without caption");
        assert_eq!(page.count("table"), page.count("thead"), "{path}");
        let pictures = text.matches("<svg class=\"scaled\"").count();
        assert_eq!(page.count("desc"), pictures, "{path}: a picture without a description");
        for id in &page.references {
            assert!(page.ids.contains(id), "{path}: nothing is called {id}");
        }
        assert_eq!(page.count("script") + page.count("style"), 0, "{path}");
    }
}

#[test]
fn it_answers() {
    let nibble = Nibble::new(["report"]);
    a_week_of_work(&nibble.path());
    let (nibble, paths) = report(nibble);
    let pages = read(&nibble.path().join("out"), &paths);
    let index = &pages["index.html"].0;
    for said in
        ["is first with <strong>9.49 µs</strong>", "1 attempt</a> could not be read", "damaged: "]
    {
        assert!(index.contains(said), "{said}\n{index}");
    }
    let board = pages
        .iter()
        .find(|(path, _)| path.contains("modelled") && !path.contains("attempts-"))
        .map(|(_, (text, _))| text)
        .expect("a board");
    for said in ["speed of light", "ties away from zero", "128-bit loads", "Roofline"] {
        assert!(board.contains(said), "{said}");
    }
    let attempt = |said: &str| {
        pages.iter().any(|(path, (text, _))| path.starts_with("attempts/") && text.contains(said))
    };
    assert!(attempt("<a href=\"#L2\">k.cu:2</a>:6: error"), "an error leads to its line");
    assert!(attempt("Ties go to the even code."), "the explanation");
    assert!(attempt("solution.cu cannot be read"), "a lost source");
    assert!(attempt("time against the last accepted"), "parents that failed are passed over");
    let comparison = |said: &str| {
        pages.iter().any(|(path, (text, _))| path.starts_with("compare/") && text.contains(said))
    };
    assert!(comparison("<strong class=\"better\">25.0 % less time than</strong>"));
    assert!(comparison("<del>- "));
}

#[test]
fn what_users_wrote_is_text() {
    let nibble = Nibble::new(["report"]);
    let folder = nibble.path();
    let hostile = |made: Made| {
        made.by(HOSTILE).message(HOSTILE).with(|made| {
            made.file = format!("{HOSTILE}.cu");
            made.source = format!("{HOSTILE}\n</code></pre>{HOSTILE}").into();
            let outcome = &mut made.outcome;
            outcome.device.name = format!("../{HOSTILE}");
            outcome.toolchain.flags = vec![HOSTILE.into()];
            outcome.fault = Some(HOSTILE.into());
            outcome.kernels = vec![Kernel { name: HOSTILE.into(), ..outcome.kernels[0].clone() }];
            for case in &mut outcome.cases {
                case.name = HOSTILE.into();
                case.reasons = vec![HOSTILE.into()];
                case.explanation = Some(HOSTILE.into());
            }
            for size in &mut outcome.sizes {
                size.name = HOSTILE.into();
            }
        })
    };
    let first = hostile(Made::accepted("k.cu", 4.0)).hours_old(9).record(&folder);
    hostile(Made::wrong("k.cu")).after(&first.id).record(&folder);
    hostile(Made::accepted("k.cu", 3.0)).after(&first.id).source("x").record(&folder);
    let (nibble, paths) = report(nibble);
    for (path, (text, page)) in read(&nibble.path().join("out"), &paths) {
        assert_eq!(page.count("script") + page.count("img"), 0, "{path}");
        assert!(!page.attributes.contains("onerror"), "{path}");
        assert!(!text.contains(['\u{202e}', '\u{0}']), "{path}");
        assert!(path.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)), "{path}");
    }
}

#[test]
fn no_page_grows_without_end() {
    let nibble = Nibble::new(["report"]);
    let folder = nibble.path();
    let mut parent = None;
    for number in 0..3 {
        let made = Made::wrong("k.cu").by(&"\"".repeat(100_000)).message(&"&\n".repeat(200_000));
        let made = made.with(|made| {
            made.parent = parent.clone();
            made.file = "<".repeat(50_000);
            made.source = format!("int x{number} = \"<&\"; // &\n").repeat(20_000).into();
            made.outcome.fault = Some("<\n".repeat(100_000));
            let case = made.outcome.cases[1].clone();
            made.outcome.cases = vec![case; 500];
        });
        parent = Some(made.record(&folder).id);
    }
    for number in 0..120 {
        let made = Made::accepted(&format!("{number}.cu"), 50.0 - 0.1 * f64::from(number));
        made.by(&"\"".repeat(99)).message(&"\"".repeat(999)).record(&folder);
    }
    let (nibble, paths) = report(nibble);
    read(&nibble.path().join("out"), &paths);
}

#[test]
fn nothing_but_a_report_is_replaced() {
    let nibble = Nibble::new(["report", "-o", "mine"]).file("mine/thesis.tex", "years of work");
    a_week_of_work(&nibble.path());
    let run = nibble.run().code(2).stdout_is_empty().fits();
    run.stderr_contains("mine is no report of nibble's").stderr_contains("nibble report -o DIR");
    let nibble = nibble.again(["report", "-o", "fresh"]);
    nibble.run().code(0);
    nibble.run().code(0);
    let entries = fs::read_dir(nibble.path()).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["fresh", "leaderboard", "mine"], "something was left beside the report");
}

#[test]
fn an_empty_leaderboard_says_what_to_do() {
    let (nibble, pages) = report(Nibble::new(["report"]));
    assert_eq!(pages, ["index.html"]);
    let index = fs::read_to_string(nibble.path().join("out/index.html")).expect("a page");
    assert!(index.contains("<code>nibble submit FILE</code> makes the first"), "{index}");
}

/// Every page in a browser: as wide as a phone and as a desk, light and dark.
#[test]
#[expect(clippy::print_stderr, reason = "who runs the tests must know which were not")]
fn a_browser_shows_it() {
    let nibble = Nibble::new(["report"]);
    a_week_of_work(&nibble.path());
    let (nibble, pages) = report(nibble);
    let root = nibble.path();
    let paths: Vec<String> = pages.iter().map(|page| format!("out/{page}")).collect();
    let widths = [360, 1280];
    for (scheme, ground) in
        [(Scheme::Light, "rgb(255, 255, 255)"), (Scheme::Dark, "rgb(20, 24, 28)")]
    {
        let Some((looks, console)) = browser::visit(&root, &paths, &widths, scheme) else {
            eprintln!("skipped: there is no Chromium on this machine");
            return;
        };
        assert_eq!(console, [] as [&str; 0], "{scheme:?}");
        let seen: Vec<_> = looks.iter().map(|look| (look.page.as_str(), look.width)).collect();
        let wanted = paths.iter().flat_map(|page| widths.map(|width| (page.as_str(), width)));
        assert_eq!(seen, wanted.collect::<Vec<_>>(), "{scheme:?}: pages did not load");
        for look in looks {
            assert!(look.overflow <= 0, "wider than the screen: {look:?}");
            assert_eq!(look.ground, ground, "{look:?}");
            assert_eq!(look.collisions, "", "labels cover each other: {look:?}");
        }
    }
}
