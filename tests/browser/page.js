// What the tests ask of a page, each a function of the object that this script returns.
const parse = (text) => {
  let m = /^rgba?\(([^)]*)\)/.exec(text);
  if (m) {
    const v = m[1].split(/[\s,/]+/).filter(Boolean).map(Number);
    return [v[0], v[1], v[2], v.length > 3 ? v[3] : 1];
  }
  m = /^color\(srgb ([^)]*)\)/.exec(text);
  if (m) {
    const v = m[1].split(/[\s/]+/).filter(Boolean).map(Number);
    return [255 * v[0], 255 * v[1], 255 * v[2], v.length > 3 ? v[3] : 1];
  }
  return null;
};
const over = (top, below) => {
  const a = top[3];
  return [0, 1, 2].map((i) => a * top[i] + (1 - a) * below[i]).concat([1]);
};
const behind = (element) => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) {
    const colour = parse(getComputedStyle(e).backgroundColor);
    if (colour && colour[3] > 0) layers.push(colour);
  }
  return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
};
const luminance = (c) => {
  const [r, g, b] = c.slice(0, 3).map((v) => {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};

const questions = {
  // The text with the least contrast to what is behind it.
  contrast() {
    for (const d of document.querySelectorAll("details")) d.open = true;
    let worst = [99, ""];
    for (const e of document.body.querySelectorAll("*")) {
      const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== "");
      if (!own || e.getClientRects().length === 0) continue;
      const style = getComputedStyle(e);
      const colour = parse(e instanceof SVGElement ? style.fill : style.color);
      if (!colour) return [0, "cannot read the colour of " + e.outerHTML.slice(0, 80)];
      const back = behind(e);
      const r = ratio(over(colour, back), back);
      if (r < worst[0]) worst = [r, e.outerHTML.slice(0, 120)];
    }
    for (const d of document.querySelectorAll("details")) d.open = false;
    return worst;
  },
  // Texts of drawings that stick out of them, by more than a pixel.
  outside() {
    const found = [];
    for (const t of document.querySelectorAll("svg text")) {
      const box = t.getBoundingClientRect();
      const frame = t.ownerSVGElement.getBoundingClientRect();
      if (box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1 ||
                            box.top < frame.top - 1 || box.bottom > frame.bottom + 1))
        found.push([t.textContent, frame.left - box.left, box.right - frame.right,
                    frame.top - box.top, box.bottom - frame.bottom]);
    }
    return found;
  },
  // Ticks of charts that read the same as their neighbour, or lie over it.
  ticks() {
    const found = [];
    for (const g of document.querySelectorAll(".chart .grid")) {
      const texts = [...g.querySelectorAll("text")].slice(0, -1); // the last is the axis' title
      for (let i = 1; i < texts.length; i++) {
        const a = texts[i - 1].getBoundingClientRect();
        const b = texts[i].getBoundingClientRect();
        const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 4 ||
                      b.bottom <= a.top + 4;
        const column = texts[i - 1].getAttribute("text-anchor");
        if (column === texts[i].getAttribute("text-anchor") &&
            (texts[i - 1].textContent === texts[i].textContent || !apart))
          found.push([texts[i - 1].textContent, texts[i].textContent]);
      }
    }
    return found;
  },
  // Words of a tree that lie over their neighbours.
  crowded() {
    const found = [];
    for (const tree of document.querySelectorAll(".tree")) {
      const words = [...tree.querySelectorAll(".form")];
      for (let i = 1; i < words.length; i++)
        if (words[i - 1].getBoundingClientRect().right > words[i].getBoundingClientRect().left)
          found.push([words[i - 1].textContent, words[i].textContent]);
    }
    return found;
  },
  // Heads of tables that are broken within a word.
  broken() {
    return [...document.querySelectorAll(".frame thead th")]
      .filter((e) => !e.closest(".upright") && e.getClientRects().length > 0)
      .filter((e) => {
        const range = document.createRange();
        range.selectNodeContents(e);
        const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
        return lines.size > 1;
      })
      .map((e) => e.textContent);
  },
  // What must never be there.
  active() {
    const found = [];
    for (const e of document.querySelectorAll("*")) {
      const name = e.localName;
      if (["script", "iframe", "img", "object", "embed", "link", "form", "base"].includes(name))
        found.push(name);
      for (const a of e.attributes)
        if (/^on/i.test(a.name) || ["src", "srcset", "style", "action"].includes(a.name) ||
            (a.name.endsWith("href") && !a.value.startsWith("#")))
          found.push(name + " " + a.name + "=" + a.value);
    }
    return found;
  },
  // What those who do not see the page need, where it is missing.
  unlabelled() {
    const found = [];
    if (!document.documentElement.lang) found.push("no language");
    if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
    let level = 0;
    for (const h of document.querySelectorAll("h1,h2,h3,h4")) {
      const next = Number(h.localName[1]);
      if (next > level + 1) found.push("heading out of order: " + h.textContent);
      level = next;
    }
    for (const s of document.querySelectorAll("svg"))
      if (s.getAttribute("aria-hidden") !== "true" &&
          !(s.getAttribute("role") === "img" && s.getAttribute("aria-label")))
        found.push("drawing without a name: " + s.outerHTML.slice(0, 80));
    for (const f of document.querySelectorAll("figure"))
      if (!f.querySelector("figcaption")) found.push("figure without a caption");
    for (const e of document.querySelectorAll("*"))
      if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "auto" &&
          e.tabIndex !== 0)
        found.push("scrolls but not by keyboard: " + e.className);
    const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
    if (new Set(ids).size !== ids.length) found.push("an id twice");
    for (const a of document.querySelectorAll("a"))
      if (!document.getElementById(a.hash.slice(1))) found.push("leads nowhere: " + a.hash);
    return found;
  },
  // Everything unfolded: does the page itself scroll sideways?
  overflow() {
    for (const d of document.querySelectorAll("details")) d.open = true;
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    for (const d of document.querySelectorAll("details")) d.open = false;
    return wide;
  },
  theme() {
    const style = getComputedStyle(document.body);
    return [style.backgroundColor, style.color];
  },
  // Values of bars or dots, and where they end in pixels.
  marks(selector) {
    return [...document.querySelectorAll(selector)].map((e) => {
      const box = e.getBoundingClientRect();
      const frame = e.ownerSVGElement.getBoundingClientRect();
      const middle = box.left + box.width / 2 - frame.left;
      return [Number(e.dataset.value), e.localName === "rect" ? box.width : middle, frame.width];
    });
  },
  names(selector) {
    return [...document.querySelectorAll(selector)].map((e) => e.textContent);
  },
  matrix(selector) {
    return [...document.querySelectorAll(selector + " tbody tr")].map((row) =>
      [...row.querySelectorAll("td")].map((c) => Number(c.textContent.replace(/,/g, ""))));
  },
  // The smallest letters among these, in pixels.
  smallest(selector) {
    return Math.min(...[...document.querySelectorAll(selector)].map((e) =>
      parseFloat(getComputedStyle(e).fontSize)));
  },
  text() {
    return document.documentElement.textContent;
  },
};
return questions[arguments[0]](...[...arguments].slice(1));
