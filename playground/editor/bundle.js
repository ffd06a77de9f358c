// What the playground takes from CodeMirror 6, as one file.
export { EditorView, basicSetup } from 'codemirror';
export { EditorState, Compartment } from '@codemirror/state';
export { keymap, hoverTooltip } from '@codemirror/view';
export { indentWithTab } from '@codemirror/commands';
export { StreamLanguage, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
export { toml } from '@codemirror/legacy-modes/mode/toml';
export { setDiagnostics, lintGutter } from '@codemirror/lint';
export { autocompletion } from '@codemirror/autocomplete';
export { tags } from '@lezer/highlight';
