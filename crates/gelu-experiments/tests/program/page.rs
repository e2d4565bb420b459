//! Tests of the HTML report in a real browser: Chromium, from Debian's `chromium` or as `$CHROMIUM` names it.

use crate::support::{Sandbox, small};
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// Returns the browser, or prints a message if there is none.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let found = named.or_else(|| usual.iter().map(PathBuf::from).find(|path| path.exists()));
    if found.is_none() {
        eprintln!("SKIPPED: there is no chromium here (Debian: apt-get install chromium)");
    }
    found
}

/// The browser's result for a page, and every host that it asked for.
struct Visit {
    dom: String,
    asked: Vec<String>,
}

/// Opens a page. A proxy records every network request and answers none.
fn visit(browser: &Path, page: &Path, width: u32) -> Visit {
    let profile = tempfile::tempdir().unwrap();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = asked.clone();
    std::thread::spawn(move || {
        for stream in proxy.incoming() {
            let mut request = [0; 512];
            let read = stream.unwrap().read(&mut request).unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..read]);
            notes.lock().unwrap().push(text.lines().next().unwrap_or_default().to_owned());
        }
    });
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-default-apps", "--disable-extensions", "--allow-file-access-from-files"])
        .args(["--disable-web-security", "--dump-dom", "--virtual-time-budget=3000"])
        .arg(format!("--proxy-server=http://{address}"))
        .arg("--proxy-bypass-list=<-loopback>")
        .arg(format!("--window-size={width},1200"))
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "chromium ended with {}", output.status);
    let mut asked = asked.lock().unwrap().clone();
    asked.retain(|line| !BROWSERS_OWN.iter().any(|host| line.contains(host)));
    Visit { dom: String::from_utf8(output.stdout).unwrap(), asked }
}

/// Hosts that Chromium contacts for the time, for updates and for an account, whatever the page.
const BROWSERS_OWN: [&str; 5] = [
    " http://clients2.google.com/time/",
    " http://update.googleapis.com/service/",
    "CONNECT accounts.google.com:443",
    "CONNECT update.googleapis.com:443",
    "CONNECT www.google.com:443",
];

fn report(sandbox: &Sandbox) -> PathBuf {
    let recipe = include_str!("../../recipes/digits.toml");
    let hostile = "<script src=\\\"http://evil.example/x.js\\\"></script>&amp;";
    let recipe = recipe.replace("title = \"Built-in", &format!("title = \"{hostile}Built-in"));
    fs::write(sandbox.path("digits.toml"), recipe).unwrap();
    let more = ["--recipe", "digits.toml", "--learning-rates", "1e-3,1e-4", "--plain"];
    sandbox.run(&small("gelu,mine=max(x,0)", "2", &more)).success();
    sandbox.path("results/digits/report.html")
}

#[test]
fn page_shows_everything_and_fetches_nothing() {
    let Some(browser) = chromium() else { return };
    let sandbox = Sandbox::new();
    let page = report(&sandbox);
    let visit = visit(&browser, &page, 1200);
    for expected in [
        "SYNTHETIC DATA",
        "2 epochs instead of 20",
        "600 training examples alone",
        "mine and GELU",
        "Learning rates",
        "at the largest rate tried",
        "figure-1",
        "runs/gelu-lr0.001-dropout0.3-seed1-",
        // The title differs from the built-in recipe's, so the report contains the recipe.
        "gelu compare --recipe recipe.toml",
        "Burn",
    ] {
        assert!(visit.dom.contains(expected), "{expected:?} is missing in:\n{}", visit.dom);
    }
    assert!(!visit.dom.contains("<script"), "a title is text");
    assert_eq!(visit.asked, Vec::<String>::new(), "nothing is fetched");

    // The proxy does record a page that loads something.
    let other = sandbox.path("other.html");
    fs::write(&other, "<img src='http://fetched.example/a.png'>").unwrap();
    let asked = self::visit(&browser, &other, 1200).asked;
    assert!(asked.iter().any(|line| line.contains("fetched.example")), "{asked:?}");
}

#[test]
fn page_is_no_wider_than_a_phone() {
    let Some(browser) = chromium() else { return };
    let sandbox = Sandbox::new();
    let page = report(&sandbox);
    // Headless windows are at least 500 pixels wide; a frame can be narrower.
    let frame = sandbox.path("results/digits/frame.html");
    let name = page.file_name().unwrap().to_str().unwrap();
    let script = "document.title = this.contentDocument.documentElement.scrollWidth";
    let html = format!(
        "<iframe src='{name}' width='390' height='800' style='border:0' onload='{script}'>"
    );
    fs::write(&frame, html).unwrap();
    let dom = visit(&browser, &frame, 1200).dom;
    let (_, rest) = dom.split_once("<title>").unwrap();
    let width: u32 = rest.split_once('<').unwrap().0.parse().unwrap();
    assert!((300..=390).contains(&width), "the page is {width} pixels wide");
}
