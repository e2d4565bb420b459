use super::*;
use crate::functions::Kind;
use alloc::format;
use alloc::string::ToString;

/// All that one can write for an activation, beside it.
fn spellings() -> Vec<(Activation, Vec<&'static str>)> {
    let units = Kind::ALL.into_iter().zip(Unit::ALL).map(|(kind, unit)| {
        let names = kind.names();
        (unit.into(), [names.name].into_iter().chain(names.aliases.iter().copied()).collect())
    });
    let others = OTHERS.iter().map(|(activation, name, _, aliases)| {
        (activation.clone(), [*name].into_iter().chain(aliases.iter().copied()).collect())
    });
    units.chain(others).collect()
}

#[test]
fn every_name_and_alias_parses_and_names_are_unique() {
    let mut seen: Vec<&str> = Vec::new();
    for (activation, names) in spellings() {
        assert_eq!(activation.to_string(), names[0]);
        for text in names {
            assert_eq!(text.parse(), Ok(activation.clone()));
            assert_eq!(text.to_uppercase().replace('-', "_").parse(), Ok(activation.clone()));
            assert!(!seen.contains(&text), "{text} names two activations");
            seen.push(text);
        }
    }
}

/// The names of transformers' `ACT2FN` (`src/transformers/activations.py`), in its order, with what
/// they are here; `None` for what is not elementwise.
const TRANSFORMERS: [(&str, Option<Activation>); 24] = [
    ("gelu", Some(Activation::Gelu)),
    ("gelu_10", Some(Activation::ClippedGelu { limit: 10.0 })),
    ("gelu_fast", Some(Activation::GeluTanh)),
    ("gelu_new", Some(Activation::GeluTanh)),
    ("gelu_python", Some(Activation::Gelu)),
    ("gelu_pytorch_tanh", Some(Activation::GeluTanh)),
    ("gelu_python_tanh", Some(Activation::GeluTanh)),
    ("gelu_accurate", Some(Activation::GeluTanh)),
    ("hardswish", Some(Activation::HardSwish)),
    ("hardsigmoid", Some(Activation::HardSigmoid)),
    ("laplace", Some(Activation::Laplace)),
    ("leaky_relu", Some(Activation::LeakyRelu { slope: 0.01 })),
    ("linear", Some(Activation::Identity)),
    ("mish", Some(Activation::Mish)),
    ("quick_gelu", Some(Activation::GeluSigmoid)),
    ("relu", Some(Activation::Relu)),
    ("relu2", Some(Activation::SquaredRelu)),
    ("relu6", Some(Activation::Relu6)),
    ("sigmoid", Some(Activation::Sigmoid)),
    ("silu", Some(Activation::Silu)),
    ("swish", Some(Activation::Silu)),
    ("tanh", Some(Activation::Tanh)),
    ("prelu", Some(Activation::PRelu)),
    // Two parameters of a layer are learned under constraints between them: a module, and none of
    // a network's plain nonlinearities.
    ("xielu", None),
];

/// The names of timm's `create_act` (`timm/layers/create_act.py`).
const TIMM: [(&str, Activation); 21] = [
    ("silu", Activation::Silu),
    ("swish", Activation::Silu),
    ("mish", Activation::Mish),
    ("relu", Activation::Relu),
    ("relu6", Activation::Relu6),
    ("leaky_relu", Activation::LeakyRelu { slope: 0.01 }),
    ("elu", Activation::Elu { alpha: 1.0 }),
    ("prelu", Activation::PRelu),
    ("celu", Activation::Celu { alpha: 1.0 }),
    ("selu", Activation::Selu),
    ("gelu", Activation::Gelu),
    ("gelu_tanh", Activation::GeluTanh),
    ("quick_gelu", Activation::GeluSigmoid),
    ("sigmoid", Activation::Sigmoid),
    ("tanh", Activation::Tanh),
    ("hard_sigmoid", Activation::HardSigmoid),
    ("hardsigmoid", Activation::HardSigmoid),
    ("hard_swish", Activation::HardSwish),
    ("hardswish", Activation::HardSwish),
    ("hard_mish", Activation::HardMish),
    ("identity", Activation::Identity),
];

#[test]
fn names_of_transformers_and_timm_are_understood() {
    let timm = TIMM.map(|(name, activation)| (name, Some(activation)));
    for (theirs, ours) in TRANSFORMERS.into_iter().chain(timm) {
        assert_eq!(theirs.parse().ok(), ours, "{theirs}");
    }
}

#[test]
fn unknown_name_lists_all_nearest_first() {
    let error = "rleu".parse::<Activation>().unwrap_err().to_string();
    let expected = "unknown activation `rleu`; did you mean `relu`? There are: relu, ";
    assert!(error.starts_with(expected), "{error}");
    for activation in Activation::built_in() {
        assert!(error.contains(&*activation.name()), "{error}");
    }
    let far = "transformer".parse::<Activation>().unwrap_err().to_string();
    assert!(far.starts_with("unknown activation `transformer`; there are: "), "{far}");
}

#[test]
fn serde_uses_the_canonical_name() {
    let some = [Activation::Gelu, Activation::Elu { alpha: 0.5 }, Activation::LearnableGelu];
    assert_eq!(serde_json::to_string(&some).unwrap(), r#"["gelu","elu:0.5","learnable-gelu"]"#);
    let json = serde_json::to_string(&Activation::built_in()).unwrap();
    let read: Vec<Activation> = serde_json::from_str(&json).unwrap();
    assert_eq!(read, Activation::built_in());
    assert!(serde_json::from_str::<Activation>("\"nope\"").is_err());
}

#[test]
fn custom_activation_is_not_saved_as_another_one_of_its_name() {
    let own = Activation::custom("relu", |x| x.abs());
    let error = serde_json::to_string(&own).unwrap_err().to_string();
    assert!(error.contains("`relu` is a function of the program's own"), "{error}");
}

#[test]
fn custom_activation_shows_its_name_and_equals_its_clones() {
    let twice = Activation::custom("twice", |x| x * 2.0);
    assert_eq!(format!("{twice} {}", twice.label()), "twice twice");
    assert_eq!(twice, twice.clone());
    assert_ne!(twice, Activation::custom("twice", |x| x * 2.0));
}

#[test]
#[should_panic(expected = "another number of values")]
fn custom_function_that_changes_the_size_is_refused() {
    let half = Activation::custom("half", |x| x.narrow(0, 0, 1));
    half.forward(Tensor::<1>::from_floats([1.0, 2.0], &Default::default()));
}
