//! What a run is shown as: the page, figures, and tables of draws; a second look is free.

use crate::common::*;
use std::fs;
use std::path::{Path, PathBuf};

/// A finished run of so many evaluations, kept in `run` of a new directory.
fn finished(test: &str, problem: &str, budget: &str) -> (PathBuf, PathBuf) {
    let dir = directory(test);
    let problem = write(&dir, "problem.toml", problem);
    let run = dir.join("run");
    done(&mut integrate(
        &problem,
        &run,
        &["--quiet", "--budget", budget],
    ))
    .exits(0);
    (dir, run)
}

fn page(run: &Path, file: &Path) -> String {
    let words = ["report", "--html", file.to_str().unwrap()];
    done(warpquad(&words).arg(run)).exits(0);
    fs::read_to_string(file).unwrap()
}

#[test]
fn the_page_has_every_part_and_needs_nothing_else() {
    let (dir, run) = finished("page", GAUSSIAN, "14");
    let text = page(&run, &dir.join("page.html"));
    assert!(text.len() < 2_000_000, "{}", text.len());
    for part in [
        "id=\"answer\"",
        "id=\"convergence\"",
        "id=\"posterior\"",
        "id=\"trust\"",
        "id=\"time\"",
        "figure-convergence",
        "figure-corner",
        "figure-left-out",
        "figure-calibration",
        "figure-time",
        "log Z = ",
        "@software{warpquad",
        "the average of f over the prior",
        "The budget was spent: 14 evaluations.",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // The names of XML's parts look like addresses and are none.
    let addresses = text.matches("://").count();
    let names = text.matches("http://www.w3.org/2000/svg").count();
    assert_eq!(addresses, names);
}

#[test]
fn a_second_look_reads_what_the_first_one_kept_until_the_journal_grows() {
    let (dir, run) = finished("page-kept", GAUSSIAN, "12");
    let first = page(&run, &dir.join("a.html"));
    // What is kept is what is shown: a change of it shows.
    let kept = fs::read_to_string(run.join("look.json")).unwrap();
    let marked = kept.replace("\"stop\":\"evaluations\"", "\"stop\":\"a zebra\"");
    assert_ne!(kept, marked);
    fs::write(run.join("look.json"), &marked).unwrap();
    let second = page(&run, &dir.join("b.html"));
    assert!(second.contains("It was stopped by a zebra.") && !first.contains("zebra"));
    let problem = dir.join("problem.toml");
    done(&mut integrate(
        &problem,
        &run,
        &["--quiet", "--budget", "13"],
    ))
    .exits(0);
    let third = page(&run, &dir.join("c.html"));
    assert!(third.contains("The budget was spent: 13 evaluations."));
    // One that is damaged is made again, and a directory that takes no file is looked at too.
    fs::write(run.join("look.json"), "{").unwrap();
    assert_eq!(page(&run, &dir.join("d.html")), third);
    fs::remove_file(run.join("look.json")).unwrap();
    fs::create_dir(run.join("look.json")).unwrap();
    assert_eq!(page(&run, &dir.join("e.html")), third);
    let left: Vec<_> = fs::read_dir(&run).unwrap().flatten().collect();
    assert!(
        left.iter()
            .all(|e| !e.file_name().to_string_lossy().contains("look.json."))
    );
}

#[test]
fn figures_are_written_as_pictures_of_both_kinds() {
    let (dir, run) = finished("page-plots", GAUSSIAN, "12");
    let plots = dir.join("plots");
    let words = ["report", "--plots", plots.to_str().unwrap()];
    done(warpquad(&words).arg(&run)).exits(0);
    for name in [
        "convergence",
        "corner",
        "left-out",
        "calibration",
        "models",
        "time",
    ] {
        let svg = fs::read_to_string(plots.join(format!("{name}.svg"))).unwrap();
        assert!(
            svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
            "{name}"
        );
        let png = fs::read(plots.join(format!("{name}.png"))).unwrap();
        assert!(
            png.starts_with(b"\x89PNG") && png.len() > 2000,
            "{name}: {}",
            png.len()
        );
    }
    let corner = dir.join("corner.png");
    done(warpquad(&["plot", "--out", corner.to_str().unwrap()]).arg(&run)).exits(0);
    assert_eq!(
        fs::read(&corner).unwrap(),
        fs::read(plots.join("corner.png")).unwrap()
    );
    let wrong = dir.join("corner.gif");
    let words = ["plot", "--out", wrong.to_str().unwrap()];
    done(warpquad(&words).arg(&run)).refuses(1, &["neither .png nor .svg"]);
    let words = [
        "plot",
        "--out",
        corner.to_str().unwrap(),
        "--parameters",
        "x,q",
    ];
    done(warpquad(&words).arg(&run)).refuses(1, &["there is no 'q'", "the run has x"]);
}

#[test]
fn draws_come_in_every_form_and_follow_the_posterior() {
    // Prior and likelihood are standard normal, so the posterior has mean 0 and variance 1/2.
    let (dir, run) = finished("page-draws", GAUSSIAN, "14");
    let file = |name: &str| dir.join(name).to_str().unwrap().to_string();
    for name in ["d.csv", "d.jsonl", "d.txt"] {
        done(warpquad(&["posterior", "--out", &file(name)]).arg(&run)).exits(0);
    }
    let csv = fs::read_to_string(file("d.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("x,log_f"));
    let rows: Vec<[f64; 2]> = lines
        .map(|line| {
            let mut parts = line.split(',').map(|x| x.parse().unwrap());
            [parts.next().unwrap(), parts.next().unwrap()]
        })
        .collect();
    let n = rows.len() as f64;
    assert_eq!(n, 4000.0);
    let mean = rows.iter().map(|row| row[0]).sum::<f64>() / n;
    let square = rows.iter().map(|row| row[0].powi(2)).sum::<f64>() / n;
    // Five standard errors of 4000 independent draws, whose fourth moment is 3/4.
    assert!(mean.abs() < 5.0 * (0.5 / n).sqrt(), "{mean}");
    assert!((square - 0.5).abs() < 5.0 * (0.5 / n).sqrt(), "{square}");
    assert!(
        rows.iter()
            .all(|[x, log_f]| (log_f + 0.5 * x * x).abs() < 0.1)
    );
    let json: serde_json::Value = serde_json::from_str(
        fs::read_to_string(file("d.jsonl"))
            .unwrap()
            .lines()
            .next()
            .unwrap(),
    )
    .unwrap();
    assert_eq!(json["x"].as_f64(), Some(rows[0][0]));
    let text = fs::read_to_string(file("d.txt")).unwrap();
    let first: Vec<f64> = text
        .lines()
        .next()
        .unwrap()
        .split(' ')
        .map(|x| x.parse().unwrap())
        .collect();
    assert_eq!(first, [1.0, -rows[0][1], rows[0][0]]);
    assert_eq!(fs::read_to_string(file("d.paramnames")).unwrap(), "x\tx\n");
    let fewer = [
        "posterior",
        "--draws",
        "10",
        "--seed",
        "3",
        "--out",
        &file("e.csv"),
    ];
    done(warpquad(&fewer).arg(&run)).exits(0);
    assert_eq!(
        fs::read_to_string(file("e.csv")).unwrap().lines().count(),
        11
    );
    done(warpquad(&["posterior", "--out", &file("d.xls")]).arg(&run))
        .refuses(1, &["no known form", ".csv"]);
}

#[test]
fn a_baseline_and_a_run_without_an_answer_have_a_page_too() {
    let (dir, run) = finished(
        "page-baseline",
        &format!("{GAUSSIAN}[method]\nname = \"qmc\"\n"),
        "256",
    );
    let text = page(&run, &dir.join("page.html"));
    assert!(text.contains("log Z = ") && text.contains("keeps no belief"));
    let words = ["posterior", "--out", dir.join("d.csv").to_str().unwrap()].map(String::from);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    done(warpquad(&words).arg(&run)).refuses(1, &["keeps no belief"]);
    let run = dir.join("asked");
    let problem = dir.join("problem.toml");
    let words = ["ask", "--problem", problem.to_str().unwrap()];
    done(warpquad(&words).arg(&run)).exits(0);
    let text = page(&run, &dir.join("asked.html"));
    assert!(text.contains("No answer yet") && text.contains("unfinished"));
}
