// Trying again when the service does not answer: soon at first, then less and less often.
const FIRST = 1,
    LAST = 30; // seconds

// `tell(text)` hears how long it still takes, once a second; `run()` tries again.
export function createRetry(tell, run) {
    let wait = FIRST,
        left = 0,
        timer = null;
    const stop = () => {
        clearInterval(timer);
        timer = null;
    };
    const now = () => {
        stop();
        run();
    };
    const tick = () => {
        if (left <= 0) return now();
        tell(`Trying again in ${left} s.`);
        left--;
    };
    addEventListener('online', () => {
        if (timer) now();
    });
    return {
        now,
        stop,
        // It failed: begin to wait.
        failed() {
            stop();
            left = wait;
            wait = Math.min(2 * wait, LAST);
            timer = setInterval(tick, 1000);
            tick();
        },
        // It worked: the next failure is tried again soon.
        worked() {
            stop();
            wait = FIRST;
        },
    };
}
