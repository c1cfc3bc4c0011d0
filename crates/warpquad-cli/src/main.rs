//! The command line: integrals of expensive functions, started, watched, killed and resumed.

mod args;
mod ask_tell;
mod check;
mod columns;
mod compare;
mod draws;
mod figures;
mod groups;
mod initial;
mod integrate;
mod interrupt;
mod list;
mod options;
mod output;
mod own_time;
mod progress;
mod regress;
mod repair;
mod report;
mod reproduce;
mod scratch;
mod watch;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::io::ErrorKind;
use std::process::ExitCode;
use warpquad::Error;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Integrate(args) => integrate::integrate(&args),
        Command::Ask(args) => ask_tell::ask(&args),
        Command::Tell(args) => ask_tell::tell(&args),
        Command::Status(args) => report::status(&args),
        Command::Report(args) => report::report(&args),
        Command::Watch(args) => watch::watch(&args),
        Command::Posterior(args) => draws::posterior(&args),
        Command::Plot(args) => figures::plot(&args),
        Command::Repair(args) => repair::repair(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Regress(args) => regress::regress(&args),
        Command::Check(args) => check::check(&args),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::List(args) => list::list(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "warpquad", &mut script);
            output::line(String::from_utf8_lossy(&script).trim_end());
            Ok(())
        }
    };
    let code = match &outcome {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("warpquad: {error}");
            exit_code(error)
        }
    };
    let code = match output::unprinted() {
        // A reader that has left, as `head` does, wants no more of it and no complaint.
        Some(error) if error.kind() == ErrorKind::BrokenPipe => code.max(1),
        Some(error) => {
            eprintln!("warpquad: standard output: {error}");
            code.max(1)
        }
        None => code,
    };
    ExitCode::from(interrupt::exit_code().unwrap_or(code))
}

/// 1 the caller's mistake, 3 numerics, 4 the integrand; clap exits with 2 for usage by itself, and
/// a signal gives 128 and its number.
fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Numerics { .. } => 3,
        Error::Evaluation { .. } => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpquad::error::Step;

    #[test]
    fn each_kind_of_error_has_its_code() {
        let numerics = Error::numerics(Step::Fit, "not finite");
        let evaluation = Error::Evaluation {
            id: 0,
            reason: String::new(),
            recoverable: true,
        };
        let errors = [Error::spec("field", "reason"), numerics, evaluation];
        assert_eq!(errors.each_ref().map(exit_code), [1, 3, 4]);
    }
}
