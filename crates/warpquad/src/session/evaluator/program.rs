//! Find the program that the user named, before it is needed.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The program of `argv` as it must be started, for messages under `field`.
///
/// A name with a separator in it is relative to `dir`; a bare name is looked for on PATH and then
/// in `dir`.
pub(super) fn find(field: &str, argv: &[String], dir: Option<&Path>) -> Result<PathBuf> {
    let Some(name) = argv.first().filter(|name| !name.is_empty()) else {
        return Err(Error::spec(field, "names no program"));
    };
    let dir = absolute(field, dir)?;
    let beside = dir.join(name);
    let bare = Path::new(name).components().count() == 1 && !name.starts_with('.');
    let found = if bare { on_path(name) } else { None };
    let program = found.unwrap_or(beside);
    if !program.is_file() {
        let place = if bare { "on PATH or in" } else { "in" };
        let reason = format!("no program `{name}` {place} {}", dir.display());
        return Err(Error::spec(field, reason));
    }
    if !executable(&program) {
        let reason = format!(
            "{} is not executable: chmod +x it, or name its interpreter first, as in \
             [\"python3\", \"{name}\"]",
            program.display()
        );
        return Err(Error::spec(field, reason));
    }
    Ok(program)
}

/// The directory that relative names are relative to.
pub(super) fn absolute(field: &str, dir: Option<&Path>) -> Result<PathBuf> {
    let dir = dir.filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.unwrap_or(Path::new("."));
    let shown = dir.display();
    fs::canonicalize(dir).map_err(|e| Error::spec(field, format!("directory {shown}: {e}")))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let named = |dir: PathBuf| {
        let plain = dir.join(name);
        let suffixed = dir.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        [plain, suffixed]
    };
    let mut candidates = env::split_paths(&path).flat_map(named);
    candidates.find(|file| file.is_file() && executable(file))
}

#[cfg(unix)]
fn executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn executable(_file: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_one(name: &str) -> Result<PathBuf> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        find("integrand.command", &[name.to_string()], Some(dir))
    }

    #[test]
    #[cfg(unix)]
    fn programs_are_found_on_path_or_refused_with_a_reason() {
        assert!(find_one("sh").unwrap().is_absolute());
        for (name, words) in [
            ("", "integrand.command: names no program"),
            (
                "no-such-program",
                "no program `no-such-program` on PATH or in ",
            ),
            ("./no-such-program", "no program `./no-such-program` in "),
            ("Cargo.toml", "Cargo.toml is not executable: chmod +x"),
        ] {
            let error = find_one(name).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(find("integrand.command", &[], None).is_err());
    }
}
