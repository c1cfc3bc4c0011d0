//! Write posterior draws of a run to a file.

use crate::args::Posterior;
use crate::figures::found_under;
use crate::output;
use crate::report::under;
use warpquad::session::Session;
use warpquad::session::derived::{DerivedDraws, derived_draws};
use warpquad::{Error, Points, Result};
use warpquad_report::table::{Draws, Form};
use warpquad_report::{Findings, look};

pub fn posterior(args: &Posterior) -> Result<()> {
    let name = args.out.display().to_string();
    let form = Form::of_file(&name)?;
    let found = match &args.prior {
        None => look(&args.run)?,
        Some(prior) => found_under(&args.run, prior)?,
    };
    if let Some(reason) = found.no_answer.as_ref().or(found.no_draws.as_ref()) {
        return Err(Error::spec("posterior", reason.clone()));
    }
    let (mut rows, log_f) = drawn(args, &found)?;
    let mut names = found.names.clone();
    for one in derived(args, &rows)? {
        names.push(one.name);
        let pairs = rows.iter_mut().zip(one.draws);
        pairs.for_each(|(row, value)| row.push(value));
    }
    let draws = Draws {
        names: &names,
        rows: &rows,
        log_f: &log_f,
    };
    output::write(&args.out, draws.write(form))?;
    if form == Form::GetDist {
        let names = args.out.with_extension("paramnames");
        output::write(&names, draws.parameter_names())?;
    }
    if !found.mapped.is_empty() {
        eprintln!(
            "warpquad: {} are coordinates between 0 and 1, which the run's own program maps to \
             parameters; r.posterior() in Python gives the parameters",
            found.mapped.join(", ")
        );
    }
    output::line(&format!("wrote {} draws to {name}", rows.len()));
    Ok(())
}

/// Derived quantities at the draws, by interpolation.
fn derived(args: &Posterior, rows: &[Vec<f64>]) -> Result<Vec<DerivedDraws>> {
    let session = match &args.prior {
        None => Session::peek(&args.run)?,
        Some(prior) => under(&args.run, prior)?,
    };
    let columns = session.derived();
    let Some(mut engine) = session.engine().cloned().filter(|_| !columns.is_empty()) else {
        return Ok(Vec::new());
    };
    derived_draws(&mut engine, &columns, &Points::from_rows(rows)?, args.seed)
}

/// The draws and ln f there: those that are kept beside the journal if they are the ones asked for.
fn drawn(args: &Posterior, found: &Findings) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
    let n = args.draws.get();
    if (n, args.seed) == (warpquad_report::DRAWS, warpquad_report::DRAWS_SEED) {
        return Ok((found.draws.clone(), found.draws_log_f.clone()));
    }
    let session = match &args.prior {
        None => Session::peek(&args.run)?,
        Some(prior) => under(&args.run, prior)?,
    };
    let Some(mut engine) = session.engine().cloned() else {
        let reason = "this method keeps no belief about f, and so no posterior";
        return Err(Error::spec("posterior", reason));
    };
    let sample = engine.posterior_sample(n, args.seed)?;
    let rows = sample.points.iter().map(<[f64]>::to_vec).collect();
    Ok((rows, sample.ln_f))
}
