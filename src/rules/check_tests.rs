use super::*;
use crate::policy::WriteSignature;

fn fault(yaml: &str) -> String {
    text(Path::new("own.yaml"), yaml).unwrap_err().to_string()
}

/// The pack and the examples of a shipped file.
fn pack(name: &str) -> (Pack, Vec<Example>) {
    let text = packs::text(name).unwrap();
    let mut faults = Vec::new();
    let examples = examples(Path::new(name), text, &mut faults).unwrap();
    assert!(faults.is_empty(), "{name}: {faults:?}");
    (Pack::parse(&yaml::parse(Path::new(name), text).unwrap()).unwrap(), examples)
}

fn failing(pack: Pack, examples: &[Example]) -> usize {
    let rules = Rules::new(Policy::read_only(), MutationConfig::of_pack(pack));
    examples.iter().filter(|example| example.failure(&rules, 0).is_some()).count()
}

#[test]
fn every_pack_does_what_its_examples_say() {
    let mut seen = 0;
    for name in packs::names() {
        let checked = shipped(name).unwrap().unwrap();
        let told: Vec<_> = checked.failures.iter().map(|failure| format!("{failure:?}")).collect();
        assert!(told.is_empty(), "{name}:\n{}", told.join("\n"));
        seen += checked.examples;
    }
    assert!(seen > 250, "the packs are there: {seen} examples");
    assert!(shipped("no-such").is_none());
}

#[test]
fn no_signature_of_a_pack_is_without_an_example() {
    for name in packs::names() {
        let (pack, examples) = pack(name);
        type List = fn(&mut Pack) -> &mut Vec<WriteSignature>;
        let lists: [(&str, List); 3] = [
            ("write", |pack| &mut pack.write),
            ("allow", |pack| &mut pack.allow),
            ("drop", |pack| &mut pack.drop),
        ];
        for (key, list) in lists {
            for index in 0..list(&mut pack.clone()).len() {
                let mut without = pack.clone();
                let taken = list(&mut without).remove(index);
                assert!(
                    failing(without, &examples) > 0,
                    "{name}: {key}_signatures[{index}] can be taken out unnoticed: {}",
                    taken.url.source()
                );
            }
        }
    }
}

#[test]
fn every_pack_shows_tricks_and_near_misses() {
    for name in packs::names() {
        let (pack, examples) = pack(name);
        let shows = |expect: Expect| examples.iter().any(|example| example.expect == expect);
        assert!(pack.write.is_empty() || shows(Expect::Write), "{name} shows no write");
        assert!(pack.drop.is_empty() || shows(Expect::Drop), "{name} shows no drop");
        assert!(shows(Expect::Read), "{name} shows nothing that it leaves alone");
        assert!(examples.iter().any(|example| example.text.contains('%')), "{name} shows no encoded URL");
        let smuggled = |example: &Example| {
            example.expect == Expect::Write
                && (example.text.contains("..") || example.text.contains("%2") || example.text.contains(';'))
        };
        assert!(
            pack.allow.is_empty() || examples.iter().any(smuggled),
            "{name} shows no way past its allows"
        );
    }
}

#[test]
fn no_pack_clears_what_another_calls_a_write() {
    let all: Vec<Value> = packs::names().map(Value::from).collect();
    let config = MutationConfig::parse(&serde_json::json!({ "packs": all })).unwrap();
    let rules = Rules::new(Policy::read_only(), config);
    for name in packs::names() {
        for example in pack(name).1.iter().filter(|example| example.expect == Expect::Write) {
            let judged = judge(&rules, &example.request);
            assert_eq!(judged.verdict, Verdict::Block, "{name}: {}: {judged:?}", example.text);
        }
    }
}

#[test]
fn a_failure_names_line_and_reason() {
    let checked = text(
        Path::new("own.yaml"),
        "title: t\nwrite_signatures:\n  - { method: POST, url: /a }\nallow_signatures:\n  - { method: POST, url: /a/ok$ }\n\
         drop_signatures:\n  - { method: POST, url: /t }\nexamples:\n  - { request: POST https://x.test/a, expect: read }\n\
         \n  - request: POST https://x.test/a/ok\n    body: x\n    expect: write\n\
         \x20 - { request: GET https://x.test/a, expect: write }\n  - { request: POST https://x.test/t, expect: read }\n\
         \x20 - { request: POST https://x.test/a, expect: write, note: holds }\n",
    )
    .unwrap();
    assert_eq!((checked.examples, checked.signatures), (5, [1, 1, 1]));
    let told: Vec<_> = checked
        .failures
        .iter()
        .map(|failure| (failure.line, failure.index, failure.because.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (9, 0, "write signature 0: POST /a"),
            (11, 1, "cleared by allow_signatures[0]"),
            (14, 2, "no write signature fires"),
            (15, 3, "dropped by drop_signatures[0]"),
        ]
    );
}

#[test]
fn malformed_packs_name_every_fault() {
    assert!(fault("a: [").starts_with("own.yaml:1:"));
    assert!(fault("- 1").contains("the pack: must be a mapping") || fault("- 1").starts_with("own.yaml:"));
    assert_eq!(
        fault("title: t"),
        "own.yaml is no signature pack: examples: must be a list with at least one request and what to expect"
    );
    let found = fault(
        "title: t\nexamples:\n  - 7\n  - { request: POST https://a.test/, expect: maybe }\n  - { request: nonsense, expect: read, x: 1 }\n\
         \x20 - { request: GET https://a.test/, expect: read, headers: { A: 1 } }\n  - { request: GET https://a.test/, expect: read, body: 1 }\n\
         \x20 - { request: GET https://a.test/, expect: read, headers: [] }\n  - { request: GET https://a.test/, expect: read, headers: { \"a b\": c } }\n",
    );
    for want in [
        "examples[0]: must be a mapping with request and expect",
        "examples[1].expect: must be write, read or drop",
        "examples[2].x: unknown key; known are request, headers, body, expect, note",
        "examples[2].request: `nonsense` is no request",
        "examples[3].headers: A must be text",
        "examples[4].body: must be text",
        "examples[5].headers: must be a mapping",
        "examples[6].headers: the header `a b` cannot be sent",
    ] {
        assert!(found.contains(want), "{want}: {found}");
    }
    assert!(matches!(file(Path::new("/no/such/pack.yaml")), Err(CheckError::File(FileError::Missing(_)))));
}
