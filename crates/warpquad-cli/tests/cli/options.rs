//! Check that the options of the table are flags, and what the journal keeps of them.

use crate::common::*;
use serde_json::Value as Json;

#[test]
fn a_flag_replaces_the_files_word_and_the_journal_keeps_it() {
    let dir = directory("options-kept");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let run = dir.join("run");
    let flags = [
        "--budget",
        "9",
        "--method",
        "bmc",
        "--kernel",
        "matern52",
        "--refit-every",
        "4",
        "--nodes",
        "256",
        "--noise",
        "1e-6",
        "--range=0,5",
        "--on-failure",
        "skip",
    ];
    done(&mut integrate(&problem, &run, &flags)).exits(0);
    let first = &events(&run)[0];
    assert_eq!(first["method"]["name"], "bmc");
    assert_eq!(first["method"]["kernel"], "matern52");
    assert_eq!(first["method"]["refit_every"], 4);
    assert_eq!(first["method"]["noise"], 1e-6);
    assert_eq!(first["problem"]["range"].to_string(), "[0.0,5.0]");
    assert_eq!(first["method"].get("batch"), None);
    // Looking at the run needs no flag; going on with it needs those that it was made with.
    done(warpquad(&["report"]).arg(&run)).exits(0);
    done(&mut integrate(&problem, &run, &flags)).exits(0);
    let other = [
        "--method",
        "bmc",
        "--range=0,5",
        "--noise",
        "1e-6",
        "--kernel",
        "matern52",
        "--nodes",
        "256",
    ];
    done(&mut integrate(&problem, &run, &other)).refuses(1, &["refit_every"]);
    done(&mut integrate(&problem, &run, &flags[..12])).refuses(1, &["another range"]);
}

#[test]
fn a_flag_that_cannot_be_meant_is_named() {
    let dir = directory("options-wrong");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let said = |flags: &[&str]| done(warpquad(&["integrate"]).args(flags).arg(&problem));
    for (flags, words) in [
        (["--nodes", "0"], "must be a whole number, 1 or more, got 0"),
        (["--nodes", "many"], "must be a whole number, got 'many'"),
        (["--seconds", "-1"], "must be positive and finite, got -1"),
        (["--on-failure", "skpi"], "did you mean 'skip'?"),
        (["--range", "3,-3"], "is empty"),
        (["--kernle", "rq"], "unexpected argument '--kernle'"),
    ] {
        said(&flags).refuses(2, &[words]);
    }
    said(&["--kernel", "matern23"]).refuses(1, &["warpquad: --kernel: unknown kernel 'matern23'"]);
    said(&["--particles", "100"]).refuses(
        1,
        &["--particles: is for the baselines smc, ais, nested, bridge"],
    );
    said(&["--method", "smc", "--warp", "log"])
        .refuses(1, &["--warp: smc has no Gaussian process"]);
    said(&["--method", "qmc", "--particles", "100"])
        .refuses(1, &["--particles: qmc has no particles"]);
}

#[test]
fn every_option_is_listed() {
    let listed = done(&mut warpquad(&["list", "options", "--json"])).exits(0);
    let listed: Json = serde_json::from_str(&listed.stdout).unwrap();
    let help = done(&mut warpquad(&["integrate", "--help"]))
        .exits(0)
        .stdout;
    let text = done(&mut warpquad(&["list", "options"])).exits(0).stdout;
    for option in listed["options"].as_array().unwrap() {
        if let Some(flag) = option["flag"].as_str() {
            assert!(help.contains(&format!("{flag} <")), "{flag}");
        }
        assert!(text.contains(option["help"].as_str().unwrap()), "{option}");
    }
    let all = done(&mut warpquad(&["list", "--json"])).exits(0);
    let all: Json = serde_json::from_str(&all.stdout).unwrap();
    assert_eq!(all["warps"][0]["name"], "identity");
}

#[test]
fn a_tuning_is_a_flag_that_may_be_repeated() {
    let dir = directory("options-tuning");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let run = dir.join("run");
    let flags = [
        "--budget",
        "8",
        "--method",
        "auto",
        "--tuning",
        "tails_sd=1,2.5",
        "--tuning",
        "axes_nodes=300",
    ];
    done(&mut integrate(&problem, &run, &flags)).exits(0);
    let kept = events(&run)[0]["method"]["tuning"].clone();
    let expected = serde_json::json!({"axes_nodes": 300.0, "tails_sd": [1.0, 2.5]});
    assert_eq!(kept, expected);
    done(&mut integrate(&problem, &run, &flags)).exits(0);
    done(&mut integrate(&problem, &run, &flags[..4])).refuses(1, &["tuning"]);
    let wrong = |word: &str| done(&mut integrate(&problem, &run, &["--tuning", word]));
    wrong("tails_sd").refuses(2, &["must be FIELD=VALUE"]);
    wrong("depth=1").refuses(
        2,
        &["unknown field 'depth'; the fields are choice_headroom_nats"],
    );
    let listed = done(&mut warpquad(&["list", "tuning"])).exits(0).stdout;
    for words in [
        "tails_sd",
        "256 [nodes]",
        "300,300,100,60 [nats, by dimension]",
    ] {
        assert!(listed.contains(words), "{listed}");
    }
}
