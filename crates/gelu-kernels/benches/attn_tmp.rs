use gelu_kernels::Level;
use gelu_kernels::attention::CausalAttention;
use gelu_kernels::row_norm::RowNorm;
use std::time::Instant;
fn time(name: &str, mut f: impl FnMut()) {
    let mut t: Vec<f64> = (0..60)
        .map(|_| {
            let s = Instant::now();
            f();
            s.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    t.sort_by(f64::total_cmp);
    println!("{name} {:.3} ms (least {:.3})", t[30], t[0]);
}
fn main() {
    let of = CausalAttention { batch: 12, length: 64, heads: 4, size: 32 };
    let qkv: Vec<f32> = (0..12 * 64 * 384).map(|i| (i as f32 * 0.7).sin()).collect();
    let level = Level::best();
    let (out, weights) = of.forward(level, &qkv);
    if std::env::args().any(|a| a == "norm") {
        let gamma = vec![1.0f32; 128];
        let norm = RowNorm { gamma: &gamma, epsilon: 1e-5, centred: true };
        for _ in 0..20000 {
            std::hint::black_box(norm.forward(level, &qkv[..768 * 128]));
        }
        return;
    }
    if std::env::args().any(|a| a == "att") {
        for _ in 0..4000 {
            std::hint::black_box(of.forward(level, &qkv));
        }
        return;
    }
    time("forward", || {
        std::hint::black_box(of.forward(level, &qkv));
    });
    time("backward", || {
        std::hint::black_box(of.gradient(level, &qkv, &weights, &out));
    });
    let gamma = vec![1.0f32; 128];
    let norm = RowNorm { gamma: &gamma, epsilon: 1e-5, centred: true };
    let x = &qkv[..768 * 128];
    time("norm", || {
        std::hint::black_box(norm.forward(level, x));
    });
    let mut g = x.to_vec();
    time("norm backward", || {
        std::hint::black_box(norm.differentiate(level, x, &mut g));
    });
}
