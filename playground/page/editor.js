// The editor: TOML colours, the simulator's diagnostics as marks, completion from the schema.
import {
  EditorView, HighlightStyle, StreamLanguage, autocompletion, basicSetup, indentWithTab, keymap,
  lintGutter, setDiagnostics, syntaxHighlighting, tags, toml,
} from './codemirror.js';

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--mute)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.standard(tags.variableName)], color: 'var(--mark)' },
  { tag: tags.string, color: 'var(--string)' },
  { tag: [tags.number, tags.atom], color: 'var(--number)' },
]);

const theme = EditorView.theme({
  '&': { border: '1px solid var(--line)', borderRadius: '.35rem', height: '62vh', fontSize: '13px', background: 'var(--card)', color: 'var(--fg)' },
  '&.cm-focused': { outline: '2px solid var(--mark)' },
  '.cm-scroller': { fontFamily: 'var(--mono)' },
  '.cm-gutters': { background: 'var(--bg)', color: 'var(--mute)', borderColor: 'var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--mark) 8%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--fg)' },
  '.cm-content': { caretColor: 'var(--fg)' },
  '.cm-tooltip, .cm-panels': { background: 'var(--card)', color: 'var(--fg)', borderColor: 'var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--mark)', color: 'var(--card)' },
  '.cm-completionInfo': { maxWidth: '24rem' },
});

/** A TOML editor in `parent`; `changed(text)` is called after each change. */
export class Editor {
  constructor(parent, changed) {
    this.schema = null;
    // In a shadow root the editor's styles are style sheets, which the page's policy allows.
    const root = parent.attachShadow({ mode: 'open' });
    this.view = new EditorView({
      parent: root,
      root,
      extensions: [
        theme,
        basicSetup,
        keymap.of([indentWithTab]),
        StreamLanguage.define(toml),
        syntaxHighlighting(colours),
        lintGutter(),
        autocompletion({ override: [(context) => this.complete(context)] }),
        EditorView.contentAttributes.of({ 'aria-label': 'Scenario in TOML' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(this.text);
        }),
      ],
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    const changes = { from: 0, to: this.view.state.doc.length, insert: text };
    this.view.dispatch({ changes, selection: { anchor: 0 }, scrollIntoView: true });
  }

  /** Marks the diagnostics of the simulator; those of other files have no place here. */
  mark(diagnostics, file) {
    const doc = this.view.state.doc;
    const marks = diagnostics
      .filter((one) => one.line && one.file === file && one.line <= doc.lines)
      .map((one) => {
        const line = doc.line(one.line);
        // Columns count characters; positions of the editor count UTF-16 units.
        const before = [...line.text].slice(0, one.column - 1).join('').length;
        const marked = [...line.text].slice(one.column - 1, one.column - 1 + one.length).join('').length;
        const from = line.from + Math.min(before, line.length);
        const to = Math.min(from + Math.max(marked, 1), line.to);
        const help = [one.label, one.help].filter(Boolean).join('. ');
        const message = `${one.code}: ${one.message}${help ? `\n${help}` : ''}`;
        return { from, to: Math.max(to, from), severity: one.severity, message };
      });
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  /** Puts the cursor at a line. */
  go(line, column = 1) {
    const at = this.view.state.doc.line(Math.min(line, this.view.state.doc.lines));
    this.view.dispatch({
      selection: { anchor: Math.min(at.from + column - 1, at.to) },
      scrollIntoView: true,
    });
    this.view.focus();
  }

  complete(context) {
    if (!this.schema) return null;
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const value = before.match(/([\w-]+)\s*=\s*"([^"]*)$/);
    const table = tableAt(context.state.doc, line.number);
    if (value) {
      const words = choicesOf(find(this.schema, [...table, value[1]]), this.schema);
      if (!words.length) return null;
      return { from: context.pos - value[2].length, options: words.map((label) => ({ label, type: 'enum' })) };
    }
    const header = before.match(/^\s*\[\[?([\w.-]*)$/);
    if (header) {
      const parts = header[1].split('.');
      const word = parts.pop();
      const keys = keysOf(find(this.schema, parts), this.schema);
      return { from: context.pos - word.length, options: keys };
    }
    const word = before.match(/(?:^|[{,])\s*([\w-]*)$/);
    if (!word || (!word[1] && !context.explicit)) return null;
    const inside = before.match(/([\w-]+)\s*=\s*\{[^}]*$/);
    const keys = keysOf(find(this.schema, inside ? [...table, inside[1]] : table), this.schema);
    return { from: context.pos - word[1].length, options: keys };
  }
}

/** The table that a line is in, as a path. */
function tableAt(doc, number) {
  for (let at = number; at >= 1; at--) {
    const header = doc.line(at).text.match(/^\s*\[\[?([\w.-]+)\]/);
    if (header) return header[1].split('.');
  }
  return [];
}

/** A schema with its references followed, as a list of alternatives. */
function alternatives(node, root, depth = 0) {
  if (!node || depth > 8) return [];
  if (node.$ref) {
    const path = node.$ref.replace(/^#\//, '').split('/');
    return alternatives(path.reduce((at, key) => at?.[key], root), root, depth + 1);
  }
  const inner = [...(node.oneOf ?? []), ...(node.anyOf ?? []), ...(node.allOf ?? [])];
  for (const rule of node.allOf ?? []) inner.push(rule.then, rule.else);
  if (node.items) inner.push(node.items);
  return [node, ...inner.flatMap((one) => alternatives(one, root, depth + 1))];
}

function find(root, path) {
  let nodes = [root];
  for (const key of path) {
    nodes = nodes.flatMap((node) => alternatives(node, root)).map((node) => node.properties?.[key]).filter(Boolean);
  }
  return nodes;
}

function keysOf(nodes, root) {
  const keys = new Map();
  for (const node of nodes.flatMap((one) => alternatives(one, root))) {
    for (const [label, entry] of Object.entries(node.properties ?? {})) {
      const info = typeof entry === 'object' ? alternatives(entry, root).find((one) => one.description)?.description : '';
      if (!keys.has(label) || info) keys.set(label, { label, info, type: 'property' });
    }
  }
  return [...keys.values()];
}

function choicesOf(nodes, root) {
  const words = new Set();
  for (const node of nodes.flatMap((one) => alternatives(one, root))) {
    for (const word of [...(node.enum ?? []), ...(node.const !== undefined ? [node.const] : [])]) {
      if (typeof word === 'string') words.add(word);
    }
  }
  return [...words];
}
