//! What is beyond the default method's reach is refused before anything is evaluated.

use crate::common::*;

#[test]
fn eleven_dimensions_are_tried_only_when_auto_is_named() {
    let dir = directory("reach");
    let names: Vec<String> = (0..11).map(|i| format!("x{i}")).collect();
    let priors: String = names
        .iter()
        .map(|name| format!("{name} = {{ normal = [0, 1] }}\n"))
        .collect();
    let text =
        format!("[integrand]\nlog = \"-x0^2\"\n[parameters]\n{priors}[budget]\nevaluations = 6\n");
    let problem = write(&dir, "problem.toml", &text);
    let words = [
        "11 dimensions",
        "smc",
        "nested",
        "tens of thousands",
        "auto",
    ];
    for command in ["integrate", "check"] {
        done(warpquad(&[command]).arg(&problem)).refuses(1, &words);
    }
    let tried = done(warpquad(&["integrate", "--json", "--method", "auto"]).arg(&problem)).exits(0);
    let warnings = tried.json()["warnings"].to_string();
    assert!(
        warnings.contains("11 dimensions are out of reach"),
        "{warnings}"
    );
    let qmc = ["integrate", "--json", "--method", "qmc", "--budget", "64"];
    let other = done(warpquad(&qmc).arg(&problem)).exits(0);
    assert!(
        !other.json()["warnings"]
            .to_string()
            .contains("out of reach")
    );
}
