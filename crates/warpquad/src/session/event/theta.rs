//! Write hyperparameters as JSON, and read them.

use super::fields::{Fields, number, numbers, rows};
use crate::belief::{Axes, Effects, MeanFunction, Theta};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The hyperparameters as users see them, in reports too.
pub fn theta_json(theta: &Theta) -> Json {
    let mean = match &theta.mean {
        MeanFunction::Constant(mean) => json!(mean),
        MeanFunction::Quadratic {
            peak,
            center,
            width,
        } => json!({"peak": peak, "center": center, "width": width}),
    };
    let mut json = json!({
        "mean": mean, "output_scale": theta.output_scale,
        "length_scales": theta.length_scales, "noise": theta.noise,
    });
    if let Some(axes) = &theta.axes {
        json["axes"] = json!(axes.rows());
    }
    if let Some(Effects { share, stretch }) = theta.effects {
        json["effects"] = json!({"share": share, "stretch": stretch});
    }
    json
}

fn axes(json: &Json) -> Result<Axes, String> {
    Axes::new(&rows(json, "axes")?).map_err(|error| error.to_string())
}

fn effects(json: &Json) -> Result<Effects, String> {
    let fields = Fields(json.as_object().ok_or("effects is not an object")?);
    let (share, stretch) = (fields.any("share")?, fields.any("stretch")?);
    Effects::new(number(share)?, number(stretch)?).map_err(|error| error.to_string())
}

pub(super) fn theta(json: &Json) -> Result<Theta, String> {
    let object = json.as_object().ok_or("theta is not an object")?;
    let fields = Fields(object);
    let mean = match fields.any("mean")? {
        Json::Object(quadratic) => {
            let fields = Fields(quadratic);
            MeanFunction::Quadratic {
                peak: number(fields.any("peak")?)?,
                center: numbers(fields.any("center")?)?,
                width: numbers(fields.any("width")?)?,
            }
        }
        constant => MeanFunction::Constant(number(constant)?),
    };
    Ok(Theta {
        mean,
        output_scale: number(fields.any("output_scale")?)?,
        length_scales: numbers(fields.any("length_scales")?)?,
        circles: None,
        noise: number(fields.any("noise")?)?,
        axes: match object.get("axes") {
            Some(rows) => Some(Arc::new(axes(rows)?)),
            None => None,
        },
        effects: object.get("effects").map(effects).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theta_comes_back_with_its_axes_and_effects() {
        let axes = Axes::new(&[vec![0.1, 1.0 / 3.0], vec![-2.0, 1e-9]]).unwrap();
        let turned = Theta {
            noise: 1e-6,
            axes: Some(Arc::new(axes)),
            effects: Some(Effects::new(1.0 / 3.0, 0.1).unwrap()),
            ..Theta::constant(-1.0, 2.0, vec![0.5, 3.0]).unwrap()
        };
        assert_eq!(theta(&theta_json(&turned)), Ok(turned));
    }

    #[test]
    fn axes_that_are_none_are_refused() {
        let plain = Theta::constant(-1.0, 2.0, vec![0.5, 3.0]).unwrap();
        let mut json = theta_json(&plain);
        json["axes"] = json!([[1.0, 0.0], [1.0]]);
        assert!(theta(&json).is_err());
    }

    #[test]
    fn effects_that_are_none_are_refused() {
        let plain = Theta::constant(-1.0, 2.0, vec![0.5, 3.0]).unwrap();
        for wrong in [
            json!(0.5),
            json!({"share": 0.5}),
            json!({"share": 2.0, "stretch": 1.0}),
        ] {
            let mut json = theta_json(&plain);
            json["effects"] = wrong;
            assert!(theta(&json).is_err());
        }
    }
}
