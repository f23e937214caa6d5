// How far the service has come with a table that it must compute before it can send any of it:
// it says so in its metrics.
const FIRST = 600,
    NEXT = 400; // milliseconds

const doneOf = (text, scheme) =>
    Number(
        new RegExp(
            `^posenc_preparation_progress_ratio\\{scheme="${scheme}"\\} (\\S+)$`,
            'm',
        ).exec(text)?.[1] ?? 1,
    );

// Call tell(done), from 0 to 1, from time to time until the signal is aborted, while one of the
// schemes is prepared. The module answers nothing else meanwhile.
export function watchPreparation(schemes, tell, signal) {
    if (globalThis.posencSite) return;
    let timer = setTimeout(ask, FIRST);
    signal.addEventListener('abort', () => clearTimeout(timer));
    async function ask() {
        const reply = await fetch('/metrics', {signal, cache: 'no-store'}).catch(() => null);
        if (!reply?.ok) return; // they are not for everybody
        const text = await reply.text().catch(() => '');
        if (signal.aborted) return;
        const done = Math.min(...schemes.map((scheme) => doneOf(text, scheme)));
        if (done < 1) tell(done);
        timer = setTimeout(ask, NEXT);
    }
}
