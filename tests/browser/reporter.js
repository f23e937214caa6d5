// Writes a line of JSON for each test that has ended, {file, name, failure}, for main.js. A
// test is told before the suite of its file, at whose end the file's name is known.

function reasonOf({error}) {
    const cause = error.cause ?? error;
    return typeof cause === 'string' ? cause : String(cause.stack ?? cause.message ?? cause);
}

export default async function* report(events) {
    let waiting = [];
    for await (const {type, data} of events) {
        if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
        if (type !== 'test:pass' && type !== 'test:fail') continue;
        const failure = type === 'test:fail' ? reasonOf(data.details) : undefined;
        if (data.nesting === 1) waiting.push({name: data.name, failure});
        if (data.nesting !== 0) continue;
        // a file that could not be read has no tests
        if (waiting.length === 0 && failure) waiting.push({name: 'is read', failure});
        for (const each of waiting) yield `${JSON.stringify({file: data.name, ...each})}\n`;
        waiting = [];
    }
}
