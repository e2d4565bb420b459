use super::*;
use crate::learn::Lesson;
use crate::testing::{Net, Plus, below, pass};
use crate::{Error, Result};
use burn::optim::SgdConfig;
use burn::tensor::Device;

const RATE: f64 = 0.1;

fn training() -> Training<Net> {
    Training::of(Net::new(|_| ()), SgdConfig::new().init(), RATE).epochs(2)
}

/// A loader whose batcher adds a number that tells it from others.
fn load(examples: usize, plus: usize) -> Loader<crate::testing::Batch> {
    Loader::new(below(examples), Plus(plus))
}

fn lesson(training: Training<Net>, done: usize) -> Result<Lesson<Net>> {
    training.lesson(3, done, &Device::default())
}

#[test]
fn a_schedule_counts_a_last_batch_that_is_not_full() {
    // 5 examples in batches of 2 are 3 batches: of 6 in all, the fourth is half a cosine through.
    let rates = |loader: Loader<_>| {
        let training = training().train(loader).schedule(Schedule::Cosine);
        let mut rates = lesson(training, 0).unwrap().rates;
        (0..6).map(|_| rates.step().base()).collect::<Vec<f64>>()
    };
    let all = rates(load(5, 0).batch_size(2));
    for (rate, batch) in all.iter().zip(0..) {
        let share = f64::from(batch) / 6.0;
        let expected = RATE * 0.5 * (1.0 + (std::f64::consts::PI * share).cos());
        assert!((rate - expected).abs() < 1e-15, "{all:?}");
    }
    // One that is dropped does not count: 4 batches in all.
    let dropped = rates(load(5, 0).batch_size(2).drop_last());
    assert!((dropped[2] - RATE / 2.0).abs() < 1e-15, "{dropped:?}");
}

/// The orders are those of `numpy`-free Python: ChaCha8 from D. J. Bernstein's description (checked by the vector
/// in rand_chacha's documentation), the key by PCG32 as rand_core documents it, stream 2e + 1 for epoch e, and
/// a Fisher–Yates shuffle whose indices come from one draw below 12! as rand documents it.
#[test]
fn an_epoch_has_the_order_of_its_number_also_after_others() {
    let train = |done| lesson(training().train(load(10, 0).batch_size(10)), done).unwrap().train;
    let through = train(0);
    assert_eq!(pass(through.as_ref()), [[1, 8, 0, 9, 7, 3, 4, 6, 2, 5]]);
    assert_eq!(pass(through.as_ref()), [[5, 9, 1, 8, 3, 6, 2, 4, 7, 0]]);
    assert_eq!(pass(train(2).as_ref()), [[2, 1, 9, 7, 6, 3, 0, 8, 4, 5]]);
}

#[test]
fn every_part_has_its_own_batcher_and_probes_are_of_validation() {
    let all = || {
        training()
            .train(load(3, 100).batch_size(2))
            .valid(load(3, 200))
            .test(load(3, 300).batch_size(3))
            .measure_train(load(3, 400))
            .probes()
    };
    let measuring = lesson(all(), 0).unwrap().measuring;
    let batches =
        |loader: &Option<burn::train::ValidLoader<Net>>| pass(loader.as_ref().unwrap().as_ref());
    // Without a batch size of its own it is that of the training's.
    assert_eq!(batches(&measuring.valid), [vec![200, 201], vec![202]]);
    assert_eq!(batches(&measuring.test), [[300, 301, 302]]);
    assert_eq!(batches(&measuring.train), [vec![400, 401], vec![402]]);
    assert_eq!(batches(&measuring.probed), batches(&measuring.valid));
    let probed = |without: fn(&mut Training<Net>)| {
        let mut training = all();
        without(&mut training);
        batches(&lesson(training, 0).unwrap().measuring.probed)[0][0]
    };
    assert_eq!(probed(|training| training.valid = None), 300);
    assert_eq!(probed(|training| (training.valid, training.test) = (None, None)), 400);
    let none = |training: &mut Training<Net>| {
        (training.valid, training.test, training.measure_train) = (None, None, None);
    };
    assert_eq!(probed(none), 100);
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let refused = |training: Training<Net>| match lesson(training, 0) {
        Err(Error::Usage(problem)) => problem,
        other => panic!("{other:?}"),
    };
    let said = refused(training());
    assert!(said.starts_with("there is no data to train on"), "{said}");
    let said = refused(training().train(load(3, 0)));
    assert!(said.contains(".train(Loader::new(…).batch_size(64))"), "{said}");
    let said = refused(training().train(load(3, 0).batch_size(4).drop_last()));
    assert!(said.contains("the 3 examples for .train(…) are less than a batch of 4"), "{said}");
    let said = refused(training().train(load(3, 0).batch_size(2)).test(load(3, 0).drop_last()));
    assert!(said.starts_with(".test(…) measures all examples"), "{said}");
}
