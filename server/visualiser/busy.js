// What is under way. As long as anything is, <body> has the class `busy`: the page is about to
// change by itself. Tests wait until the class has gone.
let count = 0;

// Something begins; the function that is returned says that it has ended.
export function busy() {
    let goesOn = true;
    count++;
    document.body.classList.add('busy');
    return () => {
        if (goesOn) count--;
        goesOn = false;
        if (count === 0) document.body.classList.remove('busy');
    };
}

// What a promise gives; busy until then.
export async function busyUntil(promise) {
    const ended = busy();
    try {
        return await promise;
    } finally {
        ended();
    }
}

// Debounce: call `run` once, a short time after the last call; busy until it is done.
export function later(run, milliseconds) {
    let timer,
        ended = () => {};
    return (...values) => {
        clearTimeout(timer);
        const overtaken = ended;
        const mine = (ended = busy());
        overtaken();
        timer = setTimeout(async () => {
            try {
                await run(...values);
            } finally {
                mine();
            }
        }, milliseconds);
    };
}
