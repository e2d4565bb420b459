use super::*;
use crate::functional;
use alloc::format;
use alloc::string::ToString;
use burn_core::tensor::{Device, Tensor};
use gelu_kernels::functions::Kind;

/// Returns every activation with all the names that parsing accepts for it.
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
    let mut seen: Vec<String> = Vec::new();
    for (activation, names) in spellings() {
        assert_eq!(activation.to_string(), names[0]);
        for text in names {
            assert_eq!(text.parse(), Ok(activation.clone()));
            assert_eq!(text.to_uppercase().replace('-', "_").parse(), Ok(activation.clone()));
            let compact = text.replace('-', "");
            assert_eq!(compact.parse(), Ok(activation.clone()));
            assert!(!seen.contains(&compact), "{text} is written twice, or names two activations");
            seen.push(compact);
        }
    }
}

/// The names of transformers' `ACT2FN` (`src/transformers/activations.py`), with the matching
/// activations.
const TRANSFORMERS: [(&str, Activation); 25] = [
    ("gelu", Activation::Gelu),
    ("gelu_10", Activation::ClippedGelu { limit: 10.0 }),
    ("gelu_fast", Activation::GeluTanh),
    ("gelu_new", Activation::GeluTanh),
    ("gelu_python", Activation::Gelu),
    ("gelu_pytorch_tanh", Activation::GeluTanh),
    ("gelu_python_tanh", Activation::GeluTanh),
    ("gelu_accurate", Activation::GeluTanh),
    ("hardswish", Activation::HardSwish),
    ("hardsigmoid", Activation::HardSigmoid),
    ("laplace", Activation::Laplace),
    ("leaky_relu", Activation::LeakyRelu { slope: 0.01 }),
    ("linear", Activation::Identity),
    ("mish", Activation::Mish),
    ("quick_gelu", Activation::GeluSigmoid),
    ("relu", Activation::Relu),
    ("relu2", Activation::SquaredRelu),
    ("relu6", Activation::Relu6),
    ("sigmoid", Activation::Sigmoid),
    ("silu", Activation::Silu),
    ("swish", Activation::Silu),
    ("tanh", Activation::Tanh),
    ("prelu", Activation::PRelu),
    ("xielu", Activation::Xielu),
    ("sqrtsoftplus", Activation::SqrtSoftplus),
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
    for (theirs, ours) in TRANSFORMERS.into_iter().chain(TIMM) {
        assert_eq!(theirs.parse(), Ok(ours), "{theirs}");
    }
}

/// The elementwise classes of `torch.nn` (PyTorch 2.15, "Non-linear Activations"): the names of the
/// Python classes, and the names that PyTorch's functions and modules print.
const PYTORCH: [(&str, Option<Activation>); 27] = [
    ("ELU", Some(Activation::Elu { alpha: 1.0 })),
    ("Hardshrink", Some(Activation::Hardshrink { lambda: 0.5 })),
    ("Hardsigmoid", Some(Activation::HardSigmoid)),
    ("Hardtanh", Some(Activation::Hardtanh { limit: 1.0 })),
    ("Hardswish", Some(Activation::HardSwish)),
    ("LeakyReLU", Some(Activation::LeakyRelu { slope: 0.01 })),
    ("LogSigmoid", Some(Activation::LogSigmoid)),
    ("PReLU", Some(Activation::PRelu)),
    ("ReLU", Some(Activation::Relu)),
    ("ReLU6", Some(Activation::Relu6)),
    ("SELU", Some(Activation::Selu)),
    ("CELU", Some(Activation::Celu { alpha: 1.0 })),
    ("GELU", Some(Activation::Gelu)),
    ("Sigmoid", Some(Activation::Sigmoid)),
    ("SiLU", Some(Activation::Silu)),
    ("Mish", Some(Activation::Mish)),
    ("Softplus", Some(Activation::Softplus { beta: 1.0 })),
    ("Softshrink", Some(Activation::Softshrink { lambda: 0.5 })),
    ("Softsign", Some(Activation::Softsign)),
    ("Tanh", Some(Activation::Tanh)),
    ("Tanhshrink", Some(Activation::Tanhshrink)),
    ("Identity", Some(Activation::Identity)),
    ("logsigmoid", Some(Activation::LogSigmoid)),
    ("leaky_relu", Some(Activation::LeakyRelu { slope: 0.01 })),
    // These have two parameters, a random slope, and two inputs.
    ("Threshold", None),
    ("RReLU", None),
    ("GLU", None),
];

/// The variants of `burn::nn::activation::ActivationConfig` that have no parameters or only learnable
/// ones, as a saved configuration names them.
const BURN: [(&str, Activation); 9] = [
    ("Identity", Activation::Identity),
    ("Gelu", Activation::Gelu),
    ("GeluApproximate", Activation::GeluTanh),
    ("Relu", Activation::Relu),
    ("LeakyRelu", Activation::LeakyRelu { slope: 0.01 }),
    ("Selu", Activation::Selu),
    ("Sigmoid", Activation::Sigmoid),
    ("HardSwish", Activation::HardSwish),
    ("Softsign", Activation::Softsign),
];

#[test]
fn names_of_pytorch_and_burn_are_understood() {
    let burn = BURN.map(|(name, activation)| (name, Some(activation)));
    for (theirs, ours) in PYTORCH.into_iter().chain(burn) {
        assert_eq!(theirs.parse().ok(), ours, "{theirs}");
    }
}

#[test]
fn names_of_something_else_say_what_to_write() {
    for (name, expected) in [
        ("swiglu", "`swiglu` is a gated unit: a `GatedFeedForward` whose activation is `silu`"),
        ("GEGLU", "`geglu` is a gated unit: a `GatedFeedForward` whose activation is `gelu`"),
        (
            "Threshold",
            "`threshold` has two parameters; where the second is 0 it is `thresholded-relu:0.1`",
        ),
        (
            "PolyNorm",
            "`polynorm` is no function of one number; it is a module of gelu-core, PolyNorm",
        ),
        ("LogSoftmax", "`log-softmax` is no elementwise function; Burn has it"),
    ] {
        assert_eq!(name.parse::<Activation>().unwrap_err().to_string(), expected);
    }
    // Every recommended name has to parse.
    for (_, advice) in ELSEWHERE {
        let last = advice.split('`').nth_back(1).unwrap_or("relu");
        assert!(last.parse::<Activation>().is_ok(), "{last}");
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

/// Returns activations that a program can construct but that have no name.
fn impossible() -> [Activation; 6] {
    [
        Activation::Softplus { beta: 0.0 },
        Activation::Celu { alpha: -1.0 },
        Activation::ClippedGelu { limit: f64::NAN },
        Activation::Elu { alpha: f64::INFINITY },
        Activation::LeakyRelu { slope: f64::NAN },
        Activation::Celu { alpha: f64::INFINITY },
    ]
}

#[test]
fn impossible_parameters_are_not_saved() {
    for activation in impossible() {
        let unit = activation.unit().unwrap();
        let invalid = unit.validated().unwrap_err().to_string();
        assert!(invalid.contains(&format!("got `{}`", unit.parameter())), "{invalid}");
        assert_eq!(serde_json::to_string(&activation).unwrap_err().to_string(), invalid);
        assert_eq!(serde_json::to_string(&unit).unwrap_err().to_string(), invalid);
    }
    for activation in Activation::built_in() {
        assert!(activation.unit().is_none_or(|unit| unit.validated() == Ok(unit)));
    }
}

#[test]
fn impossible_parameters_are_refused_wherever_they_are_used() {
    use crate::{Channels, GateHalf};
    let refuses = |what: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what)).unwrap_err();
        panic.downcast_ref::<String>().expect("a message").clone()
    };
    let device = Device::default();
    let x = || Tensor::<2>::ones([2, 4], &device);
    let (bias, half) = (|| Tensor::<1>::ones([4], &device), || Tensor::<2>::ones([2, 2], &device));
    for activation in impossible() {
        let unit = activation.unit().unwrap();
        let uses: [&dyn Fn(); 9] = [
            &|| drop(activation.init(Channels::Shared, &device)),
            &|| drop(activation.forward(x())),
            &|| drop(functional::unit(x(), unit)),
            &|| drop(functional::unit_backward(x(), x(), unit)),
            &|| drop(functional::bias_activation_dropout(x(), bias(), unit, None)),
            &|| drop(functional::gated(x(), unit, GateHalf::First)),
            &|| drop(functional::gated_backward(x(), half(), unit, GateHalf::First)),
            &|| assert!(unit.value(1.0).is_nan()),
            &|| assert!(unit.derivative(1.0).is_nan()),
        ];
        for used in uses {
            let message = refuses(used);
            assert!(
                message.starts_with("the ") && message.contains("write for instance"),
                "{message}"
            );
        }
    }
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
