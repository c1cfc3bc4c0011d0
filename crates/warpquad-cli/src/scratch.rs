//! Make a place for the files of programs whose run is not kept, and remove it again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use warpquad::session::spec::{Integrand, Problem};
use warpquad::{Error, Result};

/// A directory that only its user may enter; dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
    keep: bool,
}

impl Scratch {
    /// A directory for the problem's programs; `None` if the integrand needs none.
    pub fn of(problem: &Problem) -> Result<Option<Scratch>> {
        match problem.integrand {
            Integrand::Command { .. } | Integrand::Driver { .. } => {
                Scratch::under(&std::env::temp_dir()).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn under(parent: &Path) -> Result<Scratch> {
        // The parent may be open to all: the name cannot be guessed, and what is there already, a
        // link too, is never taken.
        let random = RandomState::new().build_hasher().finish();
        let dir = parent.join(format!("warpquad-{random:016x}"));
        make(&dir).map_err(|error| Error::Io {
            path: dir.display().to_string(),
            reason: error.to_string(),
        })?;
        Ok(Scratch { dir, keep: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Leave it: what programs wrote is of use after a failure.
    pub fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep {
            // A file that a program still holds is no reason to fail.
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

#[cfg(unix)]
fn make(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn make(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir(dir)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_scratch_directory_is_its_users_own_and_goes() {
        let (one, mut two) = (
            Scratch::under(&std::env::temp_dir()).unwrap(),
            Scratch::under(&std::env::temp_dir()).unwrap(),
        );
        assert_ne!(one.path(), two.path());
        let mode = std::fs::metadata(one.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let (first, second) = (one.path().to_path_buf(), two.path().to_path_buf());
        drop(one);
        assert!(!first.exists());
        two.keep();
        drop(two);
        assert!(second.exists());
        std::fs::remove_dir(second).unwrap();
    }

    #[test]
    fn what_is_there_already_is_not_taken() {
        let taken = Scratch::under(&std::env::temp_dir()).unwrap();
        let link = taken.path().join("link");
        std::os::unix::fs::symlink(taken.path(), &link).unwrap();
        assert!(make(&link).is_err());
        assert!(make(taken.path()).is_err());
    }
}
