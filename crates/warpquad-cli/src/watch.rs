//! Serve the page of a run to this machine's browser, and refresh it while the run goes on.

use crate::args::Watch;
use crate::figures::title;
use crate::interrupt;
use crate::output;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tiny_http::{Header, Method, Request, Response, Server};
use warpquad::session::Session;
use warpquad::{Error, Result};
use warpquad_report::{look, page};

/// How often Ctrl-C is looked for.
const BEAT: Duration = Duration::from_millis(200);
/// The shortest time between two refreshes.
const LEAST_SECONDS: u64 = 3;
/// A refresh takes at most this part of the time: the integrand needs the machine too.
const ONE_IN: f64 = 10.0;

pub fn watch(args: &Watch) -> Result<()> {
    // A directory without a run is refused at once, not in the browser.
    Session::peek(&args.run)?;
    let refused = |reason: String| Error::spec("port", reason);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let server = Server::http(address)
        .map_err(|error| refused(format!("{address} cannot be served: {error}")))?;
    let port = server
        .server_addr()
        .to_ip()
        .map_or(args.port, |ip| ip.port());
    let token = token()?;
    let interrupted = interrupt::flag();
    output::line(&format!("http://127.0.0.1:{port}/{token}/"));
    eprintln!("open this address on this machine; Ctrl-C ends it");
    while !interrupted.load(Ordering::SeqCst) {
        match server.recv_timeout(BEAT) {
            Ok(Some(request)) => answer(args, request, &token),
            Ok(None) => {}
            Err(error) => return Err(refused(error.to_string())),
        }
    }
    Ok(())
}

/// What a browser asks for: the page at the address with the token, and nothing else.
fn answer(args: &Watch, request: Request, token: &str) {
    let response = match is_ours(request.method(), request.url(), token) {
        true => shown(args),
        false => Response::from_string("not found\n").with_status_code(404),
    };
    let mut response = response;
    for (name, value) in [
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
    ] {
        response.add_header(header(name, value));
    }
    // A browser that has left needs no answer.
    let _ = request.respond(response);
}

/// Whether a request asks for the page with the right token.
fn is_ours(method: &Method, url: &str, token: &str) -> bool {
    *method == Method::Get && url.trim_matches('/') == token
}

fn shown(args: &Watch) -> Response<std::io::Cursor<Vec<u8>>> {
    let began = Instant::now();
    let made =
        look(&args.run).and_then(|found| Ok((page(&found, &title(&args.run), None)?, found.stop)));
    match made {
        Ok((text, stop)) => {
            let mut response = Response::from_string(text);
            response.add_header(header("Content-Type", "text/html; charset=utf-8"));
            if ["running", "unfinished"].contains(&stop.as_str()) {
                let wait = pause(began.elapsed());
                response.add_header(header("Refresh", &wait.to_string()));
            }
            response
        }
        Err(error) => Response::from_string(format!("{error}\n")).with_status_code(500),
    }
}

/// Seconds until the next refresh, of a page that took so long.
fn pause(took: Duration) -> u64 {
    LEAST_SECONDS.max((took.as_secs_f64() * ONE_IN).ceil() as u64)
}

fn header(name: &str, value: &str) -> Header {
    // Names and values are our own and plain.
    match Header::from_bytes(name, value) {
        Ok(header) => header,
        Err(()) => unreachable!("{name}: {value}"),
    }
}

/// A word that nobody guesses.
fn token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::spec("token", format!("the system gives no randomness: {error}"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_with_the_token_is_served() {
        assert!(is_ours(&Method::Get, "/abc/", "abc"));
        for url in ["/", "/abd/", "/abc/../journal.jsonl", "/abc/x", ""] {
            assert!(!is_ours(&Method::Get, url, "abc"), "{url}");
        }
        assert!(!is_ours(&Method::Post, "/abc/", "abc"));
    }

    #[test]
    fn a_slow_page_is_refreshed_less_often() {
        assert_eq!(pause(Duration::from_millis(5)), 3);
        assert_eq!(pause(Duration::from_secs(4)), 40);
    }

    #[test]
    fn two_tokens_differ() {
        let (a, b) = (token().unwrap(), token().unwrap());
        assert!(a != b && a.len() == 32);
    }
}
