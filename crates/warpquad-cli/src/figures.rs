//! Write the page and the figures of a run to files.

use crate::args::{Plot, Report};
use crate::output;
use crate::report::under;
use std::path::Path;
use warpquad::{Error, Result};
use warpquad_report::{Findings, corner, figures, look, page, png};

/// The page, the figures, or both.
pub fn report(args: &Report) -> Result<()> {
    let found = match &args.prior {
        None => look(&args.run)?,
        Some(prior) => found_under(&args.run, prior)?,
    };
    let parameters = args.parameters.as_deref();
    if let Some(file) = &args.html {
        output::write(file, page(&found, &title(&args.run), parameters)?)?;
        output::line(&format!("wrote {}", file.display()));
    }
    if let Some(dir) = &args.plots {
        std::fs::create_dir_all(dir).map_err(|error| Error::Io {
            path: dir.display().to_string(),
            reason: error.to_string(),
        })?;
        let all = figures(&found, parameters)?;
        for figure in &all {
            output::write(&dir.join(format!("{}.svg", figure.name)), &figure.svg)?;
            output::write(&dir.join(format!("{}.png", figure.name)), png(figure)?)?;
        }
        let names: Vec<&str> = all.iter().map(|figure| figure.name).collect();
        output::line(&format!("wrote {} to {}", names.join(", "), dir.display()));
    }
    Ok(())
}

/// What a run has found under the prior of a file.
pub fn found_under(run: &Path, prior: &Path) -> Result<Findings> {
    let mut session = under(run, prior)?;
    let stop = session.last_stop().unwrap_or("running").to_string();
    Findings::of(&mut session, &stop)
}

/// The corner plot.
pub fn plot(args: &Plot) -> Result<()> {
    let end = args.out.extension().and_then(|end| end.to_str());
    if !matches!(end, Some("png" | "svg")) {
        let reason = format!("'{}' ends with neither .png nor .svg", args.out.display());
        return Err(Error::spec("out", reason));
    }
    let found = look(&args.run)?;
    if found.evaluations.is_empty() {
        let reason = "nothing has been evaluated, so there is nothing to draw";
        return Err(Error::spec("run", reason));
    }
    let figure = corner(&found, args.parameters.as_deref())?;
    match end {
        Some("svg") => output::write(&args.out, &figure.svg)?,
        _ => output::write(&args.out, png(&figure)?)?,
    }
    output::line(&format!("wrote {}", args.out.display()));
    Ok(())
}

/// What a run's page is called: the name of its directory.
pub fn title(run: &Path) -> String {
    let full = std::fs::canonicalize(run).unwrap_or_else(|_| run.to_path_buf());
    let name = full
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| run.display().to_string())
}
