//! Check each reason of a verdict.

use super::*;

/// An answer that nothing is wrong with.
fn sound() -> Evidence {
    Evidence {
        evaluations: 100,
        dim: 3,
        ln_z_sd: 0.01,
        belief_sd: 0.01,
        ln_f: (0..100)
            .map(|i| if i == 50 { 0.0 } else { -1.0 - f64::from(i) })
            .collect(),
        widening: Some(1.0),
        models: Some([-3.0, -2.9]),
        has_model: true,
        ..Evidence::default()
    }
}

fn codes(of: &Evidence) -> Vec<&'static str> {
    reasons(of).iter().map(|reason| reason.code).collect()
}

#[test]
fn a_sound_answer_is_settled() {
    assert!(reasons(&sound()).is_empty());
}

#[test]
fn every_reason_has_its_code() {
    let mut rises = sound().ln_f;
    rises[90] = 2.0;
    let cases = [
        (
            "few",
            Evidence {
                evaluations: 23,
                ..sound()
            },
        ),
        (
            "identical",
            Evidence {
                ln_f: vec![-1e10; 25],
                ..sound()
            },
        ),
        (
            "rising",
            Evidence {
                ln_f: rises,
                ..sound()
            },
        ),
        (
            "rising",
            Evidence {
                is_climbing: true,
                ..sound()
            },
        ),
        (
            "tail",
            Evidence {
                tail_nats: 1.4,
                ..sound()
            },
        ),
        (
            "wide",
            Evidence {
                ln_z_sd: 0.7,
                ..sound()
            },
        ),
        (
            "moved",
            Evidence {
                widening: Some(8.0),
                ln_z_sd: 0.1,
                ..sound()
            },
        ),
        (
            "moved",
            Evidence {
                frames: vec![30, 50, 70],
                ..sound()
            },
        ),
        (
            "models",
            Evidence {
                models: Some([-4.0, -2.0]),
                ..sound()
            },
        ),
        (
            "node_error",
            Evidence {
                node_error: 0.1,
                ..sound()
            },
        ),
        (
            "audit",
            Evidence {
                audit: Some("the audit says".into()),
                ..sound()
            },
        ),
        (
            "failures",
            Evidence {
                failures: 40,
                ..sound()
            },
        ),
        (
            "failures",
            Evidence {
                failed_part: Some(0.3),
                ..sound()
            },
        ),
        (
            "noise",
            Evidence {
                suspected_noise_sd: Some(0.3),
                ..sound()
            },
        ),
        (
            "peaks",
            Evidence {
                outside_part: Some(0.2),
                ..sound()
            },
        ),
        (
            "one_climb",
            Evidence {
                looked_elsewhere: Some(false),
                ..sound()
            },
        ),
        (
            "thin_prior",
            Evidence {
                effective_draws: Some(1.5),
                ..sound()
            },
        ),
    ];
    for (code, evidence) in cases {
        assert_eq!(codes(&evidence), [code]);
    }
}

#[test]
fn a_frame_that_has_served_for_long_is_settled() {
    for frames in [vec![], vec![20], vec![20, 75], vec![20, 40, 59]] {
        assert!(codes(&Evidence { frames, ..sound() }).is_empty());
    }
    let drifts = Evidence {
        frames: vec![20, 40, 61],
        ..sound()
    };
    assert_eq!(codes(&drifts), ["moved"]);
}

#[test]
fn an_answer_while_climbing_is_wide_but_has_not_moved() {
    let climbing = Evidence {
        is_climbing: true,
        widening: Some(50.0),
        ln_z_sd: 0.4,
        ..sound()
    };
    assert_eq!(codes(&climbing), ["rising"]);
}

#[test]
fn an_f_of_any_sign_does_not_rise() {
    let mut ln_f = sound().ln_f;
    ln_f[90] = 2.0;
    let signed = Evidence {
        ln_f,
        is_signed: true,
        ..sound()
    };
    assert!(codes(&signed).is_empty());
}

#[test]
fn noise_alone_does_not_rise() {
    let mut ln_f = sound().ln_f;
    ln_f[90] = 2.0;
    assert!(
        codes(&Evidence {
            ln_f,
            noise_sd: 1.0,
            ..sound()
        })
        .is_empty()
    );
}
