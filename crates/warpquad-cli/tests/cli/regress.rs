//! The constrained regression on a CSV file.

use crate::common::*;

#[test]
fn predictions_stay_inside_the_range() {
    let dir = directory("regress");
    let rate = |x: f64| 1.0 / (1.0 + (-4.0 * x).exp());
    let rows = (0..15)
        .map(|i| -1.0 + i as f64 / 7.0)
        .map(|x| format!("{x},{}\n", rate(x)));
    let train = write(
        &dir,
        "train.csv",
        &format!("x,y\n{}", rows.collect::<String>()),
    );
    let new = write(&dir, "new.csv", "extra, x\n1,-3\n2,-0.05\n3,0.55\n4,3\n");
    for fit in ["f", "g"] {
        let args = ["regress", "--target", "y", "--range", "0,1", "--fit", fit];
        let mut command = warpquad(&args);
        let json = done(command.arg("--json").arg(&train).arg("--predict").arg(&new))
            .exits(0)
            .json();
        assert_eq!(
            (&json["observations"], &json["inputs"][0]),
            (&15.into(), &"x".into())
        );
        assert!(
            json["hyperparameters"]["length_scales"][0]
                .as_f64()
                .unwrap()
                > 0.0
        );
        let predictions = json["predictions"].as_array().unwrap();
        assert_eq!(predictions.len(), 4);
        for p in predictions {
            let (mean, sd) = (p["mean"].as_f64().unwrap(), p["sd"].as_f64().unwrap());
            assert!(0.0 < mean && mean < 1.0 && sd > 0.0, "{p}");
        }
        assert!((predictions[2]["mean"].as_f64().unwrap() - rate(0.55)).abs() < 0.02);
        // As CSV, the same numbers.
        let csv = done(warpquad(&args).arg(&train).arg("--predict").arg(&new))
            .exits(0)
            .stdout;
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!((lines.len(), lines[0]), (5, "x,y_mean,y_sd,y_lo,y_hi"));
        let cells: Vec<f64> = lines[1].split(',').map(|c| c.parse().unwrap()).collect();
        assert_eq!(
            (cells[0], Some(cells[1])),
            (-3.0, predictions[0]["mean"].as_f64())
        );
        assert!(0.0 < cells[3] && cells[3] < cells[4] && cells[4] < 1.0);
    }
    let summary =
        done(warpquad(&["regress", "--target", "y", "--range", "0,1"]).arg(&train)).exits(0);
    for words in ["log likelihood", "length scales", "left out", "rms error"] {
        assert!(summary.stdout.contains(words), "{}", summary.stdout);
    }
}

/// 50 values of a rate with noise of sd 0.03, clipped to the range.
fn clipped_rates() -> (String, impl Fn(f64) -> f64) {
    let rate = |x: f64| 1.0 / (1.0 + (-14.0 * (x - 0.5)).exp());
    let mut rows = String::from("x,y,sd\n");
    for i in 0..50 {
        let x = (i as f64 + 0.5) / 50.0;
        // Twelve uniforms make a good normal.
        let uniform =
            |k: usize| (43758.5453 * ((13 * i + k) as f64 * 12.9898).sin()).rem_euclid(1.0);
        let normal = (0..12).map(uniform).sum::<f64>() - 6.0;
        let y = (rate(x) + 0.03 * normal).clamp(0.0, 1.0);
        rows += &format!("{x},{y},0.03\n");
    }
    (rows, rate)
}

#[test]
fn values_on_the_bounds_have_noise() {
    let dir = directory("regress-bounds");
    let (rows, rate) = clipped_rates();
    let on_ends = rows
        .lines()
        .filter(|l| l.contains(",0,") || l.contains(",1,"))
        .count();
    assert!(on_ends >= 8, "{on_ends}");
    let train = write(&dir, "train.csv", &rows);
    let new = write(&dir, "new.csv", "x\n0.05\n0.27\n0.5\n0.73\n0.95\n");
    let base = [
        "regress",
        "--target",
        "y",
        "--range",
        "0,1",
        "--json",
        "--predict",
    ];
    for (how, says) in [
        (&["--noise", "9e-4"][..], false),
        (&["--fit-noise"], false),
        (&[], true),
        (&["--sd-column", "sd"], false),
    ] {
        let mut command = warpquad(&base);
        command.arg(&new).args(how).arg(&train);
        let plain = std::fs::read_to_string(&train).unwrap();
        if how != ["--sd-column", "sd"] {
            // Without the flag the column would be an input.
            let cut = plain.replace(",sd", "").replace(",0.03\n", "\n");
            let path = write(&dir, "two.csv", &cut);
            command = warpquad(&base);
            command.arg(&new).args(how).arg(path);
        }
        let out = done(&mut command).exits(0);
        assert_eq!(
            out.stderr.contains("an end of the range (0, 1)"),
            says,
            "{}",
            out.stderr
        );
        let json = out.json();
        for p in json["predictions"].as_array().unwrap() {
            let get = |key: &str| p[key].as_f64().unwrap();
            let truth = rate(p["inputs"]["x"].as_f64().unwrap());
            assert!(
                (get("mean") - truth).abs() < 5.0 * get("sd") + 2e-3,
                "{how:?} {p}"
            );
            assert!(
                (get("mean") - truth).abs() < 0.06 && get("sd") < 0.05,
                "{how:?} {p}"
            );
            let ends = [&p["interval"], &p["observed"]["interval"]];
            for interval in ends.iter().filter(|i| !i.is_null()) {
                let [lo, hi] = [0, 1].map(|i| interval[i].as_f64().unwrap());
                assert!(0.0 <= lo && lo < hi && hi <= 1.0, "{p}");
            }
        }
        let each = how == ["--sd-column", "sd"];
        assert_eq!(json["noise"]["variance"].is_null(), each);
        assert_eq!(
            (&json["noise"]["on"], json["noise"]["fitted"] == true),
            (&"y".into(), how.is_empty() || how == ["--fit-noise"])
        );
        let coverage = json["left_out"]["coverage_95"].as_f64().unwrap();
        assert!((0.85..=1.0).contains(&coverage), "{coverage}");
    }
}

#[test]
fn each_new_row_may_have_its_own_noise() {
    let dir = directory("regress-own-noise");
    let (rows, _) = clipped_rates();
    let train = write(&dir, "train.csv", &rows);
    let args = [
        "regress",
        "--target",
        "y",
        "--range",
        "0,1",
        "--sd-column",
        "sd",
    ];
    let new = write(&dir, "new.csv", "sd,x\n0.01,0.5\n0.2,0.5\n");
    let out = done(warpquad(&args).arg(&train).arg("--predict").arg(&new)).exits(0);
    assert!(
        out.stderr.contains("left out: mean log density"),
        "{}",
        out.stderr
    );
    let lines: Vec<&str> = out.stdout.lines().collect();
    assert!(lines[0].ends_with("y_observed_sd,y_observed_lo,y_observed_hi"));
    let sd = |line: &str, column: usize| -> f64 {
        line.split(',').nth(column).unwrap().parse().unwrap()
    };
    let of_f = sd(lines[1], 2);
    for (line, noise) in [(lines[1], 0.01), (lines[2], 0.2_f64)] {
        let expected = of_f.hypot(noise);
        assert!((sd(line, 5) / expected - 1.0).abs() < 0.05, "{line}");
    }
    // Without the column nothing is known of the noise of a new value.
    let new = write(&dir, "bare.csv", "x\n0.5\n");
    let out = done(warpquad(&args).arg(&train).arg("--predict").arg(&new)).exits(0);
    assert!(!out.stdout.contains("observed"));
    let mut by_rows = warpquad(&args);
    by_rows.args(["--noise-on", "g", "--fit", "f-loo"]);
    let inside = rows.replace(",0,", ",0.01,").replace(",1,", ",0.99,");
    let train = write(&dir, "inside.csv", &inside);
    done(by_rows.arg(&train)).refuses(1, &["fit: f-loo is for exact values"]);
}

#[test]
fn values_that_never_vary_are_told() {
    let dir = directory("regress-constant");
    let train = write(&dir, "train.csv", "x,y\n1,0.5\n2,0.5\n3,0.5\n");
    let mut command = warpquad(&["regress", "--target", "y", "--range", "0,1"]);
    let out = done(command.arg(&train)).exits(0);
    let says = "y is 0.5 in each of 3 rows: nothing is known of how it varies";
    assert!(out.stderr.contains(says), "{}", out.stderr);
    // All on the ends, and with no noise that matters: once a variance below 0.
    let train = write(&dir, "ends.csv", "x,y\n1,0\n2,0\n3,0\n4,1\n5,1\n6,1\n");
    let mut command = warpquad(&["regress", "--target", "y", "--range", "0,1"]);
    done(command.arg(&train)).exits(0);
}

#[test]
fn noise_that_cannot_be_is_refused() {
    let dir = directory("regress-noise");
    let train = write(&dir, "train.csv", "x,y,e\n1,0.5,0.1\n2,0,0.1\n3,2,0\n");
    for (args, words) in [
        (
            &["--noise", "-1"][..],
            "--noise: must not be negative, got -1",
        ),
        (
            &["--sd-column", "e"],
            "line 4, column e: a standard deviation is positive, got 0",
        ),
        (&["--sd-column", "s"], "no column 's'; there are x, y, e"),
        (
            &["--noise", "0.1"],
            "line 3, an end of the range (0, inf): say --noise-on y",
        ),
        (&["--level", "2"], "--level: is between 0 and 1, got 2"),
    ] {
        let mut command = warpquad(&["regress", "--target", "y", "--range", "0,inf"]);
        done(command.args(args).arg(&train)).refuses(1, &["warpquad: ", words]);
    }
}

#[test]
fn bad_data_are_refused_with_their_place() {
    let dir = directory("regress-bad");
    for (text, args, words) in [
        (
            "x,y\n1,0.5\n2,oops\n",
            ["y", "0,1"],
            "line 3, column y: 'oops' is not a number",
        ),
        (
            "x,y\n1,0.5\n2,0.6\n",
            ["z", "0,1"],
            "no column 'z'; there are x, y",
        ),
        (
            "x,y\n1,0.5\n2,1.5\n",
            ["y", "0,1"],
            "train.csv: line 3, column y: 1.5 is outside the range (0, 1)",
        ),
        ("x,y\n1,0.5\n2,0.6\n", ["y", "1,0"], "range"),
        (
            "x,y\n1,0.5\n2,0.6\n",
            ["y", "0,one,1"],
            "expected LO,HI, got '0,one,1'",
        ),
        ("x,y\n1,0.5\n2,0.6\n", ["y", "0"], "expected LO,HI"),
        ("x,y\n", ["y", "0,1"], "observation"),
        ("y\n0.5\n", ["y", "0,1"], ""),
        ("x,y\n1\n", ["y", "0,1"], "line: 2"),
        ("", ["y", "0,1"], "no column 'y'"),
        (
            "x,y\n1,0.5\n1,0.7\n",
            ["y", "0,1"],
            "train.csv: line 3, column y: the inputs are those of line 2, where it is 0.5 instead of 0.7",
        ),
        (
            "x,y\nnan,0.5\n1,0.7\n",
            ["y", "0,1"],
            "line 2, column x: 'nan' is not a number",
        ),
        (
            "x,x,y\n1,2,0.5\n",
            ["y", "0,1"],
            "line 1: two columns are named 'x'",
        ),
    ] {
        let train = write(&dir, "train.csv", text);
        let mut command = warpquad(&["regress", "--target", args[0], "--range", args[1]]);
        done(command.arg(&train)).refuses(1, &["warpquad: ", words]);
    }
    let mut missing = warpquad(&["regress", "no-such.csv", "--target", "y"]);
    done(&mut missing).refuses(1, &["no-such.csv"]);
}
