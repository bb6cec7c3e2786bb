"""Learn which of several codes to send, with gradients through a discrete choice.

The forward pass draws one code with the probabilities softmax(logits): the largest entry of logits
plus Gumbel noise. The backward pass is that of a softmax of the same sum (Jang, Gu and Poole,
"Categorical reparameterization with Gumbel-softmax", 2017).

python examples/gumbel_softmax.py
"""

import numpy as np

import pullback as pb


def draw_one_hot(logits, temperature):
    """Return one-hot rows with the gradient of the softmax."""
    noisy = (logits + pb.random.gumbel(logits.shape)) / temperature
    soft = pb.softmax(noisy)
    hard = pb.one_hot(pb.argmax(noisy, axis=-1), logits.shape[-1])
    return soft + pb.stop_gradient(hard - soft)


def main(steps=300, codes=8, batch=256, verbose=True):
    pb.random.seed(0)
    random = np.random.default_rng(0)
    # The best code of each message is the nearest one.
    positions = random.normal(size=(codes, 2)).astype(np.float32)
    messages = positions[[1, 3, 4, 6]] + 0.05 * random.normal(size=(4, 2)).astype(np.float32)
    logits = pb.Variable(np.zeros((4, codes), np.float32))
    optimizer = pb.optimizers.Adam(0.1)

    @pb.function
    def step(which, temperature):
        sent = draw_one_hot(pb.take(logits, which, axis=0), temperature) @ positions
        loss = pb.mean(pb.sum((sent - pb.take(messages, which, axis=0)) ** 2, axis=-1))
        optimizer.apply_gradients([(pb.gradients(loss, [logits])[0], logits)])
        return loss

    losses = []
    for k in range(steps):
        which = pb.random.integers(0, 4, batch)
        losses.append(float(step(which, max(0.5, 0.99**k))))
    best = pb.argmax(logits, axis=-1).numpy()
    if verbose:
        print(f"squared error {losses[0]:.3f} -> {losses[-1]:.3f}, codes {best.tolist()}")
    return losses, best, pb.softmax(logits).numpy()


def plot(figure, result):
    losses, _, probabilities = result
    left, right = figure.subplots(1, 2)
    left.semilogy(losses)
    left.set(xlabel="step", title="squared error")
    right.imshow(probabilities, cmap="Blues", vmin=0, vmax=1)
    right.set(xlabel="code", ylabel="message", title="learned probabilities")


if __name__ == "__main__":
    main()
