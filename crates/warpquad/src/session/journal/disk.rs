//! Say which few file operations a journal needs, and make them on a real directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The journal's file in a run's directory.
pub const FILE: &str = "journal.jsonl";
/// A file whose space is given back when the disk is full, so that a value already paid for can
/// still be written.
pub const RESERVE: &str = "reserve";

/// The operations of a journal on its directory. Tests have a disk that fails at each of them.
pub trait Disk: std::fmt::Debug + Send {
    /// All bytes of the journal.
    fn read(&mut self) -> io::Result<Vec<u8>>;
    /// Write at the journal's end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cut the journal, or make it longer by zeros.
    fn set_len(&mut self, length: u64) -> io::Result<()>;
    /// Wait until the journal's bytes are on the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Wait until the names of new files are on the disk.
    fn sync_directory(&mut self) -> io::Result<()>;
    /// Fill the reserve, unless it has that many bytes already.
    fn fill_reserve(&mut self, bytes: u64) -> io::Result<()>;
    /// Give the reserve's space back.
    fn drop_reserve(&mut self);
}

/// A directory of this machine, with its journal open.
#[derive(Debug)]
pub struct Directory {
    dir: PathBuf,
    journal: File,
}

impl Directory {
    /// Open the journal of a directory, which may have to be made.
    pub fn open(dir: &Path, create: bool) -> io::Result<Directory> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(create);
        Ok(Directory {
            dir: dir.to_path_buf(),
            journal: options.open(dir.join(FILE))?,
        })
    }
}

impl Disk for Directory {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.journal.seek(SeekFrom::Start(0))?;
        self.journal.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.journal.write_all(bytes)
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        self.journal.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.journal.sync_data()
    }

    #[cfg(unix)]
    fn sync_directory(&mut self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_directory(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn fill_reserve(&mut self, bytes: u64) -> io::Result<()> {
        let path = self.dir.join(RESERVE);
        match fs::read(&path) {
            Ok(old) if !is_reserve(&old, bytes) => {
                let reason = format!("a file named '{RESERVE}' is there that no run made: move it");
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
            }
            Ok(old) if old.len() as u64 == bytes => return Ok(()),
            _ => {}
        }
        let mut file = File::create(&path)?;
        file.write_all(&vec![b' '; bytes as usize])?;
        file.sync_data()
    }

    fn drop_reserve(&mut self) {
        // Without a reserve there is no space to give back.
        let _ = fs::remove_file(self.dir.join(RESERVE));
    }
}

/// Whether these bytes are a reserve of at most that length, whole or half written.
fn is_reserve(bytes: &[u8], length: u64) -> bool {
    bytes.len() as u64 <= length && bytes.iter().all(|&b| b == b' ' || b == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_somebody_else_is_no_reserve() {
        assert!(is_reserve(b"", 4) && is_reserve(b"    ", 4) && is_reserve(b"  \0", 4));
        assert!(!is_reserve(b"     ", 4));
        assert!(!is_reserve(b"mine", 4));
    }
}
