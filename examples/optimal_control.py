"""Swing a pendulum up with a weak motor.

The torques of all time steps are the unknowns of a minimisation. The loss is the result of a
simulation, one `scan`, and its gradient by all torques costs one reverse pass (an adjoint solve).

python examples/optimal_control.py   (needs scipy)
"""

import numpy as np
from scipy.optimize import minimize

import pullback as pb

STEPS, TIME_STEP = 120, 0.04
LIMIT = 4.0  # the largest torque; holding the pendulum horizontally needs 9.81
WEIGHT = 1e-3  # of the energy in the cost


def simulate(torques):
    """Return the angles and the velocities, by the symplectic Euler method; 0 hangs down."""

    def step(state, torque):
        angle, velocity = state
        velocity = velocity + TIME_STEP * (torque - 9.81 * pb.sin(angle) - 0.1 * velocity)
        angle = angle + TIME_STEP * velocity
        return (angle, velocity), (angle, velocity)

    at_rest = pb.zeros((), dtype="float64")
    _, path = pb.scan(step, (at_rest, at_rest), torques)
    return path


def cost(u):
    """Return the distance from upright and at rest in the last steps, and the energy used."""
    torques = LIMIT * pb.tanh(u)
    angle, velocity = simulate(torques)
    end = slice(-15, None)
    upright = pb.mean(2 * (1 + pb.cos(angle[end])) + 0.1 * pb.square(velocity[end]))
    return upright + WEIGHT * pb.mean(pb.square(torques))


def main(iterations=400):
    value_and_gradient = pb.function(pb.value_and_grad(cost))

    def fun(u):
        value, gradient = value_and_gradient(u)
        return float(value), gradient.numpy()

    # The start follows the swing: a torque in the direction of the velocity adds energy.
    start = 0.5 * np.sign(np.sin(np.arange(STEPS) * TIME_STEP * np.sqrt(9.81)))
    found = minimize(fun, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    torques = LIMIT * np.tanh(found.x)
    angle, velocity = (values.numpy() for values in simulate(pb.constant(torques)))
    height = -np.cos(angle)
    print(f"cost {fun(start)[0]:.3f} -> {found.fun:.4f} in {found.nit} iterations")
    print(f"height at the end {height[-1]:.4f} of 1, velocity {velocity[-1]:.3f}")
    return found, torques, angle, height


def plot(figure, result):
    _, torques, angle, height = result
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    time = TIME_STEP * np.arange(1, STEPS + 1)
    left.plot(time, torques, label="torque")
    left.plot(time, angle, label="angle")
    left.plot(time, height, label="height")
    left.set(xlabel="time")
    left.legend()
    for k in range(0, STEPS, 6):
        shade = str(0.85 * (1 - k / STEPS))
        right.plot([0, np.sin(angle[k])], [0, -np.cos(angle[k])], "o-", color=shade, markersize=4)
    right.set(aspect="equal", title="positions, from light to dark")


if __name__ == "__main__":
    main()
