import * as ts from 'typescript';
import type { Source } from './sources';

/** Shares of sentences, in percent. */
export interface Shares {
  /** Open with what, whatever, whom or of: the object first, the actor last or nowhere. */
  readonly objectFirst: number;
  /** Are about whoever, nobody, somebody, anybody or everybody instead of a role. */
  readonly noRole: number;
}

const OBJECT_FIRST = /^["'`(]*(?:What|Whatever|Whom|Of)\b/;
const OBJECT_FIRST_TITLE = /^["'`(]*(?:what|whatever|whom|of)\b/i;
const NO_ROLE = /\b(?:whoever|whomever|nobody|somebody|anybody|everybody)\b/i;
const FEWEST_WORDS = 3;

/** Percent of the sentences in these texts. @param areTitles a title has no capital at its start */
export function sharesOf(texts: readonly string[], { areTitles = false } = {}): Shares {
  const sentences = texts.flatMap(splitSentences);
  const percent = (pattern: RegExp): number =>
    (100 * sentences.filter((sentence) => pattern.test(sentence)).length) / Math.max(1, sentences.length);
  return { objectFirst: percent(areTitles ? OBJECT_FIRST_TITLE : OBJECT_FIRST), noRole: percent(NO_ROLE) };
}

const splitSentences = (text: string): readonly string[] =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.:;!?]) /)
    .filter((sentence) => sentence.split(' ').length >= FEWEST_WORDS);

/** The comments of a file, each block as one text. */
export function commentsIn({ text }: Source): readonly string[] {
  const blocks: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const comment = /^\s*(?:\/\/+|\/\*\*?|\*(?!\/))\s?(.*?)(?:\*\/)?$/.exec(line)?.[1];
    if (comment === undefined) isOpen = false;
    else if (isOpen && !/^\s*\/\*/.test(line)) blocks.push(`${blocks.pop() ?? ''} ${comment}`);
    else blocks.push(comment);
    if (comment !== undefined) isOpen = !line.includes('*/');
  }
  return blocks;
}

/** The texts of a file that are longer than two words, and the titles of its tests; an X stands for each part that is filled in. */
export function textsIn({ tree, name }: Source): {
  readonly messages: readonly string[];
  readonly titles: readonly string[];
} {
  const [messages, titles]: [string[], string[]] = [[], []];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = ts.isTemplateExpression(node)
        ? node
            .getText(tree)
            .slice(1, -1)
            .replace(/\$\{[^}]*\}/g, 'X')
        : node.text;
      if (/\s\S+\s/.test(text)) (isTitle(node, tree) && name.startsWith('tests/') ? titles : messages).push(text);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { messages, titles };
}

const isTitle = (node: ts.Node, tree: ts.SourceFile): boolean =>
  ts.isCallExpression(node.parent) &&
  node.parent.arguments[0] === node &&
  /^(?:test|describe|scenario|story)\b/.test(node.parent.expression.getText(tree).slice(0, 12));

/** The paragraphs, items and cells of a page, without its code blocks. */
export const paragraphsIn = (page: string): readonly string[] =>
  page
    .replace(/^ *```[^]*?^ *```/gm, '')
    .replace(/^(\s*(?:[-*]|\d+\.|#+|>)\s)/gm, '\n')
    .split(/\n\s*\n|\n?\|/)
    .map((paragraph) => paragraph.replace(/[*_]/g, '').trim())
    .filter((paragraph) => paragraph !== '');
