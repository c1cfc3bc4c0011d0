//! The page that is served: to this machine, with a token, until Ctrl-C.

use crate::common::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// The status line, the headers and the text that a request for this path is answered with.
fn get(port: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[cfg(unix)]
#[test]
fn the_page_is_served_with_its_token_until_ctrl_c() {
    let dir = directory("watch");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let run = dir.join("run");
    done(warpquad(&["watch"]).arg(&run)).refuses(1, &["holds no run"]);
    done(&mut integrate(
        &problem,
        &run,
        &["--quiet", "--budget", "9"],
    ))
    .exits(0);
    let mut child = warpquad(&["watch"])
        .arg(&run)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
    let (port, path) = address.split_once('/').unwrap();
    let page = get(port, &format!("/{path}"));
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("id=\"answer\""));
    // A finished run is not refreshed.
    assert!(!page.contains("Refresh:"));
    for other in ["/", "/journal.jsonl", "/0123456789abcdef0123456789abcdef/"] {
        assert!(get(port, other).starts_with("HTTP/1.1 404"), "{other}");
    }
    let id = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
