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
        assert_eq!((lines.len(), lines[0]), (5, "y_mean,y_sd"));
        let mean: f64 = lines[1].split(',').next().unwrap().parse().unwrap();
        assert_eq!(Some(mean), predictions[0]["mean"].as_f64());
    }
    let summary =
        done(warpquad(&["regress", "--target", "y", "--range", "0,1"]).arg(&train)).exits(0);
    assert!(summary.stdout.contains("log likelihood") && summary.stdout.contains("length scales"));
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
            "observation 1 is f = 1.5",
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
            "points 0 and 1 are both [1.0]",
        ),
        ("x,y\nnan,0.5\n1,0.7\n", ["y", "0,1"], ""),
    ] {
        let train = write(&dir, "train.csv", text);
        let mut command = warpquad(&["regress", "--target", args[0], "--range", args[1]]);
        done(command.arg(&train)).refuses(1, &["warpquad: ", words]);
    }
    let mut missing = warpquad(&["regress", "no-such.csv", "--target", "y"]);
    done(&mut missing).refuses(1, &["no-such.csv"]);
}
