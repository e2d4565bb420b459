//! Runs the commands on the book's page about a public record, and checks the quoted outputs.

use gelu_compare::testing::Page;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../../../docs/src/how-to/speedruns.md");

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_verdict_is_what_the_program_says_of_the_table() {
    let quotes: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let commands = Page::of("gelu-compare", PAGE).commands;
    let verdicts: Vec<_> = commands.iter().filter(|quoted| quoted.words[0] == "verdict").collect();
    let typed: Vec<_> = verdicts.iter().filter(|quoted| !quoted.inline).collect();
    assert_eq!((typed.len(), quotes.len()), (7, 7));
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/how-to");
    for (quoted, quote) in typed.iter().zip(quotes) {
        let output = Command::new(env!("CARGO_BIN_EXE_gelu-compare"))
            .args(&quoted.words)
            .current_dir(&book)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = unwrapped(&String::from_utf8(said).unwrap());
        assert!(said.contains(quote), "{quote}\n{said}");
    }
}
