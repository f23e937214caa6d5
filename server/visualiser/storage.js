// What the browser keeps for the page; without storage nothing is kept.
export function recall(key) {
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
}

export function remember(key, text) {
    try {
        localStorage.setItem(key, text);
    } catch {
        /* a page without storage forgets it */
    }
}
