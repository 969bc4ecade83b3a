/**
 * The one script of pages. It listens to the server, and brings a page up to date in place when the server says that
 * its model has changed: focus, open details and a form in use stay as they are. Without it, pages are read by reloading.
 */
export const LIVE_SCRIPT = String.raw`'use strict';
(() => {
  const meta = document.querySelector('meta[name="conveyor-live"]');
  const note = document.getElementById('live');
  if (meta === null || note === null || !('EventSource' in window)) return;
  const SLOWEST_MS = 60000;
  let [seen, source, failures, refreshing, isLate] = [meta.content, null, 0, 0, false];
  let [readAt, away] = [new Date(), 0];

  const say = (text) => void (note.textContent === text || (note.textContent = text));
  const sayOld = (why, since = readAt) =>
    say('⚠ This page is as of ' + since.toISOString().slice(0, 19) + 'Z: ' + why + '. It is tried again.');
  const lose = (why) => void (away ||= setTimeout(() => sayOld(why), 8000));
  const regain = () => {
    clearTimeout(away);
    [away, failures] = [0, 0];
    say('');
  };

  const connect = () => {
    if (source !== null || document.hidden) return;
    const stream = new EventSource(location.pathname + location.search);
    source = stream;
    stream.addEventListener('model', ({ data }) => {
      const { model, spreadMs } = JSON.parse(data);
      regain();
      if (model === seen) readAt = new Date();
      else refresh(Math.random() * spreadMs);
    });
    stream.addEventListener('gone', ({ data }) => {
      const { since, why } = JSON.parse(data);
      sayOld(why, new Date(since));
    });
    stream.onerror = () => {
      lose('the server does not answer');
      if (stream.readyState !== EventSource.CLOSED) return;
      close();
      failures += 1;
      setTimeout(connect, Math.min(SLOWEST_MS, 2500 * 2 ** failures) * (0.5 + Math.random()));
    };
  };
  const close = () => {
    source?.close();
    source = null;
  };

  const refresh = (afterMs) => {
    if (refreshing !== 0) return void (isLate = true);
    refreshing = setTimeout(async () => {
      isLate = false;
      const found = await read().catch(() => null);
      refreshing = 0;
      if (found === null) {
        failures += 1;
        lose('the server does not answer');
        return refresh(Math.min(SLOWEST_MS, 2500 * 2 ** failures) * (0.5 + Math.random()));
      }
      if (isLate) refresh(500);
    }, afterMs);
  };
  const read = async () => {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (answer.status === 401 || answer.redirected) return leave();
    if (!answer.ok) return null;
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const model = next.querySelector('meta[name="conveyor-live"]')?.content;
    if (model === undefined) return null;
    [seen, readAt] = [model, new Date()];
    regain();
    bring(next);
    return next;
  };
  const leave = () => {
    close();
    document.removeEventListener('visibilitychange', watch);
    say('⚠ You are no longer signed in: reload this page.');
    return document;
  };

  const bring = (next) => {
    const above = [];
    for (let at = document.activeElement; at !== null; at = at.parentElement) if (at.id !== '') above.push(at.id);
    document.title = next.title;
    for (const place of ['main', 'footer']) sync(document.querySelector(place), next.querySelector(place));
    if (document.activeElement !== document.body) return;
    const place = above.map((id) => document.getElementById(id)).find((one) => one !== null);
    if (place === undefined) return;
    if (place.tabIndex < 0) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  };
  const isInUse = (node) =>
    node.nodeName === 'FORM' && (node.dataset.used !== undefined || node.contains(document.activeElement));
  const isAlike = (here, next) =>
    here.nodeType === next.nodeType && here.nodeName === next.nodeName && (here.id ?? '') === (next.id ?? '');
  const sync = (here, next) => {
    if (here.nodeType !== Node.ELEMENT_NODE) return void (here.data === next.data || (here.data = next.data));
    if (isInUse(here) || here === note) return;
    for (const { name } of [...here.attributes])
      if (!next.hasAttribute(name) && !(name === 'open' || (name === 'tabindex' && here.id !== '')))
        here.removeAttribute(name);
    for (const { name, value } of next.attributes)
      if (name !== 'open' && here.getAttribute(name) !== value) here.setAttribute(name, value);
    syncChildren(here, next);
  };
  const keyOf = (node) =>
    node.id || node.nodeName + ((node.nodeName === 'TR' && node.querySelector('a')?.href) || node.textContent);
  const isAhead = (at, key) => at !== null && (keyOf(at) === key || isAhead(at.nextSibling, key));
  const drop = (node) => {
    const after = node.nextSibling;
    node.remove();
    return after;
  };
  const syncChildren = (here, next) => {
    const wanted = new Set([...next.children].map(({ id }) => id));
    for (const child of [...here.children]) if (child.id !== '' && !wanted.has(child.id)) child.remove();
    const known = new Map([...here.children].map((child) => [child.id, child]));
    let at = here.firstChild;
    const later = [...next.childNodes].map(keyOf);
    for (const child of [...next.childNodes]) {
      const key = later.shift();
      // A row that is new or gone leaves the others alone: a person may have opened one.
      const isMoved = (node) => node !== null && !child.id && keyOf(node) !== key;
      while (isMoved(at) && !later.includes(keyOf(at)) && isAhead(at, key)) at = drop(at);
      const same = child.id ? known.get(child.id) : undefined;
      if (same !== undefined && same !== at && isAlike(same, child)) here.insertBefore(same, at);
      const match = same ?? at;
      if (match === null || !isAlike(match, child) || (isMoved(match) && later.includes(keyOf(match)))) {
        here.insertBefore(document.importNode(child, true), at);
        continue;
      }
      at = match.nextSibling;
      sync(match, child);
    }
    while (at !== null) at = drop(at);
  };

  document.addEventListener('input', ({ target }) => target.form && (target.form.dataset.used = ''));
  const watch = () => (document.hidden ? close() : connect());
  document.addEventListener('visibilitychange', watch);
  addEventListener('pagehide', close);
  addEventListener('pageshow', connect);
  connect();

  // The server writes all times, also those in sentences, so it has to know the zone.
  const zone = 'conveyor-zone=' + Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone.endsWith('=' + meta.dataset.zone) || document.cookie.split('; ').includes(zone)) return;
  document.cookie = zone + ';path=/;max-age=31536000;samesite=lax';
  refresh(0);
})();
`;
