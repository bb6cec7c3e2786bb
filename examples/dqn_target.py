"""Q-learning with a target network: `stop_gradient` keeps the target fixed.

python examples/dqn_target.py
"""

import numpy as np

import pullback as pb

STATES, ACTIONS, DISCOUNT = 4, 3, 0.5


def q_values(parameters, observation):
    return observation @ parameters["w"] + parameters["b"]


@pb.function
def loss_and_gradient(parameters, target, batch):
    def loss(parameters):
        chosen = pb.sum(
            q_values(parameters, batch["now"]) * pb.one_hot(batch["action"], ACTIONS), axis=1
        )
        best = pb.max(q_values(target, batch["next"]), axis=1)
        goal = pb.stop_gradient(batch["reward"] + DISCOUNT * best)
        return pb.mean(pb.square(goal - chosen))

    return pb.value_and_grad(loss)(parameters)


def sample(random, size=64):
    """Return a batch of transitions; action k has entry k of the state as its reward."""
    now = random.normal(size=(size, STATES)).astype(np.float32)
    action = random.integers(0, ACTIONS, size)
    return {
        "now": now,
        "action": action,
        "reward": now[np.arange(size), action],
        "next": random.normal(size=(size, STATES)).astype(np.float32),
    }


def main(rounds=10, steps=40):
    random = np.random.default_rng(0)
    w = random.normal(0, 0.3, (STATES, ACTIONS)).astype(np.float32)
    parameters = {"w": w, "b": np.zeros(ACTIONS, np.float32)}
    losses = []
    for _ in range(rounds):
        target = parameters  # frozen: the updates below create new arrays
        for _ in range(steps):
            loss, gradient = loss_and_gradient(parameters, target, sample(random))
            parameters = {
                name: pb.evaluate(parameters[name] - 0.1 * gradient[name]) for name in parameters
            }
            losses.append(float(loss))
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    learned = np.asarray(parameters["w"])
    print(np.round(learned, 2))
    return losses, learned


def plot(figure, result):
    losses, learned = result
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    left.semilogy(losses)
    left.set(xlabel="step", title="loss")
    right.imshow(learned, cmap="Blues", vmin=0, vmax=1)
    right.set(xlabel="action", ylabel="entry of the state", title="weights")


if __name__ == "__main__":
    main()
