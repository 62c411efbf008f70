//! `nibble leaderboard [PROBLEM]`

use crate::support::{Made, Nibble, ON_MOCK, mock};

#[test]
fn modelled_and_measured_are_never_on_one_board() {
    let nibble = Nibble::new(["leaderboard"]);
    let folder = nibble.path();
    Made::accepted("01_naive.cu", 40.0).hours_old(50).record(&folder);
    Made::accepted("03_vectors.cu", 4.0).hours_old(30).message("128-bit loads").record(&folder);
    Made::wrong("03_vectors.cu").hours_old(20).record(&folder);
    Made::accepted("04_one_pass_over_everything.cu", 3.9)
        .by("Bartholomäus")
        .hours_old(2)
        .message("keeps the whole row in registers, which costs occupancy")
        .record(&folder);
    Made::accepted("03_vectors.cu", 3.5).measured(0.01).hours_old(3).record(&folder);
    Made::accepted("05.cu", 3.51).measured(0.01).hours_old(1).record(&folder);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

/// For a README, for a spreadsheet; what people write breaks neither.
#[test]
fn for_other_programs() {
    let nibble = Nibble::new(["leaderboard", "--format", "markdown"]);
    let folder = nibble.path();
    Made::accepted("01_naive.cu", 40.0).hours_old(50).record(&folder);
    Made::accepted("02.cu", 3.5).measured(0.01).hours_old(3).record(&folder);
    let odd = Made::accepted("02|b.cu", 3.51).measured(0.01).by("bob, *esq.*");
    odd.message("a \"quoted\"\nline").hours_old(1).record(&folder);
    insta::assert_snapshot!("markdown", nibble.run().code(0).stderr_is_empty().screen());

    let nibble = nibble.again(["leaderboard", "--format", "csv"]);
    let csv = nibble.run().code(0).stderr_is_empty().stdout;
    assert_eq!(csv.matches("\r\n").count(), 4, "{csv}");
    let row = csv.split("\r\n").nth(3).expect("three rows");
    assert!(row.starts_with("mxfp4_quantize,2,NVIDIA B200,sm_100a,false,2,"), "{row}");
    assert!(row.contains(",02|b.cu,\"bob, *esq.*\",11.099594587"), "{row}");
    assert!(row.ends_with("Z,\"a \"\"quoted\"\"\nline\""), "{row}");

    let json = nibble.again(["leaderboard", "--format", "json"]);
    assert_eq!(json.run().json(), json.again(["leaderboard", "--json"]).run().json());
}

/// `fast.cu` and `slow.cu` were first on a board of revision 0 of the problem.
#[test]
fn an_older_revision_stands_apart_until_it_is_measured_again() {
    let nibble = mock([]).again(["leaderboard"]);
    let folder = nibble.path();
    let old = |file, us, hours| Made::accepted(file, us).scripted().revision(0).hours_old(hours);
    let fast = old("fast.cu", 4.0, 9).by("bob").message("as it was").record(&folder);
    old("slow.cu", 5.0, 8).record(&folder);
    old("third.cu", 6.0, 7).record(&folder);
    Made::accepted("new.cu", 7.0).scripted().hours_old(6).record(&folder);
    insta::assert_snapshot!("revisions_apart", nibble.run().code(0).stderr_is_empty().screen());

    let again = nibble.again(["leaderboard", "--remeasure", "2"]).args(&ON_MOCK[..2]);
    let run = again.run().code(0).fits();
    insta::assert_snapshot!("remeasured", run.screen());
    let again = again.again(["leaderboard", "--remeasure=2", "--json"]).args(&ON_MOCK[..2]);
    let run = again.run().code(0).stderr_contains("nothing to run again");
    let today = &run.json()[0];
    assert_eq!(today["rows"][0]["best"]["parent"], fast.id.as_str());
    assert_eq!(today["rows"][0]["best"]["author"], "bob");
    assert_eq!(today["rows"][0]["best"]["message"], "as it was");
}

#[test]
fn flags_that_mean_nothing() {
    let run = |arguments: &[&str]| Nibble::new(["leaderboard"]).args(arguments).run().code(2);
    run(&["--format", "xml"]).stderr_contains("[possible values: table, markdown, csv, json]");
    run(&["--remeasure", "mxfp4_quantize"]).stderr_contains("'mxfp4_quantize' for '--remeasure");
    run(&["mxfp5"]).stderr_contains("no problem is called `mxfp5`");
}

#[test]
fn nothing_there_yet() {
    let run = Nibble::new(["leaderboard", "mxfp4_quantize"]).run().code(0).fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn one_object_for_each_board() {
    let nibble = Nibble::new(["leaderboard", "--json"]);
    let attempt = Made::accepted("01_naive.cu", 40.0).record(&nibble.path());
    let objects = nibble.run().code(0).json();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["rows"][0]["rank"], 1);
    assert_eq!(objects[0]["rows"][0]["best"]["id"], attempt.id.as_str());
}

#[test]
fn verify_names_what_is_wrong_and_repair_removes_no_attempt() {
    let nibble = Nibble::new(["leaderboard", "verify"]);
    let attempt = Made::accepted("01_naive.cu", 40.0).record(&nibble.path());
    let sound = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("verify_sound", sound.screen());

    let folder = format!("leaderboard/attempts/mxfp4_quantize/{}", attempt.id);
    let nibble = nibble.file(&format!("{folder}/solution.cu"), "another");
    nibble.run().code(1).stdout_contains("solution.cu is not the source that was recorded");
    let nibble = nibble.again(["leaderboard", "repair", "--json"]);
    let object = &nibble.run().code(1).json()[0];
    assert_eq!(object["findings"].as_array().expect("an array").len(), 1);
    assert!(nibble.path().join(folder).join("attempt.toml").exists());
}

/// A colleague's leaderboard on a stick: one attempt is new, one is known, one was edited.
#[test]
fn merge_takes_what_is_new_and_sound() {
    let nibble = Nibble::new(["leaderboard", "merge", "stick"]);
    let stick = nibble.path().join("theirs");
    let known = Made::accepted("01_naive.cu", 40.0).record(&stick);
    std::fs::create_dir_all(nibble.path().join("leaderboard/attempts/mxfp4_quantize"))
        .expect("made");
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(stick.join(format!("leaderboard/attempts/mxfp4_quantize/{}", known.id)))
        .arg(nibble.path().join("leaderboard/attempts/mxfp4_quantize"))
        .status();
    assert!(copied.expect("cp").success());
    Made::accepted("02.cu", 20.0).by("bob").record(&stick);
    let edited = Made::accepted("03.cu", 10.0).by("eve").record(&stick);
    std::fs::rename(stick.join("leaderboard"), nibble.path().join("stick")).expect("renamed");
    let edited = format!("stick/attempts/mxfp4_quantize/{}", edited.id);
    let nibble = nibble.file(&format!("{edited}/solution.cu"), "// not what was timed");
    let run = nibble.run().code(1).stderr_is_empty();
    insta::assert_snapshot!("merge", run.screen());
    let again = &nibble.beside(&["leaderboard", "merge", "stick", "--json"]).code(1).json()[0];
    assert_eq!(again["taken"], serde_json::json!({}));
    assert_eq!(again["known"], 2);
    assert_eq!(again["left"][0]["flaw"]["kind"], "source_changed");
    nibble.beside(&["leaderboard", "verify"]).code(0);

    nibble.beside(&["leaderboard", "merge", "."]).code(2).stderr_contains(". is no leaderboard");
    let itself = nibble.beside(&["leaderboard", "merge", "leaderboard"]).code(2);
    itself.stderr_contains("leaderboard is this leaderboard itself");
    nibble.beside(&["leaderboard", "merge"]).code(2).stderr_contains("<FOLDER>");
}

/// Bob's time was taken on the house's card; ana's stands on her word until cyd has run it again.
#[test]
fn whose_word_stands_behind_each_time() {
    let nibble = mock([]);
    let folder = nibble.path();
    let on = |made: Made, gpu: &str| {
        let gpu = gpu.to_owned();
        made.with(move |one| one.outcome.environment.gpu_uuid = Some(gpu))
    };
    let ana =
        on(Made::accepted("fast.cu", 9.0).scripted().hours_old(9), "GPU-anas").record(&folder);
    on(Made::accepted("b.cu", 12.0).by("bob").scripted().hours_old(8), "GPU-house").record(&folder);
    let agreed = "[house]\ngpus = [\"GPU-house\"]\n";
    let nibble = nibble.file("leaderboard/board.toml", agreed);
    let board = |nibble: &Nibble| nibble.beside(&["leaderboard"]).code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("house", board(&nibble).screen());

    let confirm =
        ["leaderboard", "confirm", ana.id.tail(), "--device", "mock:gpu.toml", "--author"];
    nibble.beside(&[&confirm[..], &["ana"]].concat()).code(2).stderr_contains("is your own, ana");
    nibble.beside(&[&confirm[..], &["cyd"]].concat()).code(0).stdout_is_empty();
    let rows = &nibble.beside(&["leaderboard", "--json"]).json()[0]["rows"];
    assert_eq!(
        (rows[0]["best"]["author"].as_str(), rows[0]["trust"].as_str()),
        (Some("ana"), Some("confirmed"))
    );
    assert_eq!(rows.as_array().expect("rows").len(), 2, "who confirms is not ranked");

    let nibble = nibble.file("leaderboard/board.toml", format!("{agreed}only = true\n"));
    let rows = &nibble.beside(&["leaderboard", "--json"]).json()[0]["rows"];
    assert_eq!(rows.as_array().expect("rows").len(), 1);
    assert_eq!(rows[0]["trust"], "house");
    let nibble = nibble.file("leaderboard/board.toml", "[hose]\n");
    let run = nibble.beside(&["leaderboard"]).code(3).fits();
    run.stderr_contains("board.toml line 1: unknown field");
}
