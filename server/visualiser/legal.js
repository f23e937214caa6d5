// Sliders stay on what the service takes. Many rules join several parameters (an even number, a
// divisor of another, a bound that follows from another), and only the service knows them all:
// where it refuses the value of a slider, the nearest one that it takes is found by asking, and
// remembered for the next step.
import {accepts, describe} from './api.js';
import {plain} from './fields.js';
import {completed} from './prefill.js';
import {parameterOf} from './schema.js';
import {changesOf} from './strangers.js';

const NEAR = 3; // how many numbers on each side are tried first
const HALVINGS = 24;
const RULES_KEPT = 64;

// settings without the value, where odd numbers are refused; the oldest first
const evenOnly = new Set();

function keyOf({scheme, parameters}, name) {
    return JSON.stringify([scheme, name, {...parameters, [name]: undefined}]);
}

// A slider's value, as far as it is known what the service refuses; `before` is the value it
// comes from.
export function withinRules(settings, name, before) {
    const wanted = settings.parameters[name];
    if (Number(wanted) % 2 === 0 || !evenOnly.has(keyOf(settings, name))) return wanted;
    return String(Number(wanted) + (Number(wanted) < Number(before) ? -1 : 1));
}

// `ask` is accepts or describe: what the service says of a request before it computes, and
// after.
async function takes(ask, settings, name, value, signal) {
    try {
        await ask(
            {...settings, parameters: {...settings.parameters, [name]: String(value)}},
            signal,
        );
        return true;
    } catch (error) {
        if (error.name === 'AbortError' || error.status === 0) throw error;
        return false;
    }
}

const middleOf = (a, b, type) =>
    type === 'integer' ? Math.trunc((a + b) / 2) : Number(((a + b) / 2).toPrecision(3));

// Values to try instead of a refused integer: on in the direction of the slider, then back.
// From a neighbour of the last value, as arrow keys go, also its double or half, for divisors
// are far apart.
function candidates(refused, before) {
    const direction = refused < before ? -1 : 1;
    const ahead = Array.from({length: NEAR}, (_, i) => refused + direction * (i + 1));
    const far =
        Math.abs(refused - before) <= 2
            ? [direction > 0 ? before * 2 : Math.trunc(before / 2)]
            : [];
    return [
        ...ahead,
        ...far,
        ...ahead
            .map((value) => 2 * refused - value)
            .filter((value) => (value - before) * direction > 0),
    ];
}

// The value next to a refused one that the service takes, as a text, or null. `before` is the
// last that it took; without one the greatest is taken for it.
async function legalInstead(settings, row, before, signal) {
    const value = await nearestTaken(accepts, settings, row, before, signal);
    if (value === null || (await takes(describe, settings, row.name, value, signal)))
        return value;
    return nearestTaken(describe, settings, row, before, signal);
}

async function nearestTaken(
    ask,
    settings,
    {name, type, minimum = -Infinity, maximum = Infinity},
    before,
    signal,
) {
    const refused = Number(settings.parameters[name]),
        last = Number(before ?? maximum);
    const asked = (value) => takes(ask, settings, name, value, signal);
    if (!Number.isFinite(last) || last === refused || !(await asked(last))) return null;
    if (type === 'integer')
        for (const value of candidates(refused, last)) {
            if (value < minimum || value > maximum || !(await asked(value))) continue;
            if (
                Math.abs(value - refused) === 1 &&
                value % 2 === 0 &&
                !(await asked(2 * value - refused))
            )
                evenOnly.add(keyOf(settings, name));
            if (evenOnly.size > RULES_KEPT) evenOnly.delete(evenOnly.keys().next().value);
            return String(value);
        }
    let taken = last,
        bound = refused;
    for (let i = 0; i < HALVINGS; i++) {
        const value = middleOf(taken, bound, type);
        if (value === taken || value === bound) break;
        if (await asked(value)) taken = value;
        else bound = value;
    }
    return String(taken);
}

// The settings that the service takes instead of those of a slider, and what is said of that:
// {parameters, text}. The slider's next value that is taken, else what the value brings with
// it, else the settings before, which are those of `table`.
export async function legalSettings(scheme, settings, name, table, signal) {
    const {parameters} = settings,
        row = parameterOf(scheme, name);
    const before = table.settings.parameters[name] ?? table.effective[name];
    const nearTo = async (last) => {
        const value = await legalInstead(settings, row, last, signal);
        return value === null ? null : {parameters: {...parameters, [name]: value}, text: ''};
    };
    const near = before == null ? null : await nearTo(before);
    if (near) return near;
    const answer = await completed(scheme, parameters, name);
    if (answer.described) return {parameters: answer.parameters, text: changesOf(answer)};
    const text = `${plain(name)} stays as it was: ${answer.problem.message}.`;
    return (await nearTo()) ?? {parameters: table.settings.parameters, text};
}
