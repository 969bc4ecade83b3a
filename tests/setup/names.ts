import * as ts from 'typescript';
import type { Source } from './sources';

/** The files that contain each name of a top-level definition. */
export function placesOfDefinitions(sources: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const source of sources)
    for (const name of new Set(definitionsIn(source))) places.set(name, [...(places.get(name) ?? []), source.name]);
  return places;
}

/** Words that the glossary's words replaced, in any case: `insist` is `callUntilAnswered`, a `guest` a canary, … */
const DROPPED = new Set(
  'asked books condemn condemned dependable errand errands guest guests hear hears heard unheard insist leftover leftovers said say says shelf standing tell tells told'.split(
    ' ',
  ),
);

/** Files, and definitions as `file: name`, whose names have a dropped word. */
export const droppedWords = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap((source) => [
    ...(isDropped(source.name.replace(/^.*\/|\.tsx?$/g, '')) ? [source.name] : []),
    ...definitionsIn(source).flatMap((name) => (isDropped(name) ? [`${source.name}: ${name}`] : [])),
  ]);

const isDropped = (name: string): boolean =>
  name.split(/(?=[A-Z])|[^A-Za-z]/).some((word) => DROPPED.has(word.toLowerCase()));

/**
 * Phrases that people stumbled over: it continues, resumes or is recorded, and nobody is told or hears what is reported, notified or asked.
 * To tell one from another is good English; so is what holds unless told otherwise. A sentence has a noun where it would begin with `what is`.
 */
const DROPPED_PHRASES = [
  /\b(?:(?:goes|go|went|gone) on(?! top)|put on record|hears? of|heard of|to hear|hears(?! = |\())\b(?!\()/i,
  /\b(?:is|are|was|were|be) (?:heard|told(?! (?:apart|otherwise|from)))\b/i,
  /\bwhat (?:is|was|were|has|had) (?!in\b|out\b)\w+(?: (?:for|of|in|on|there|already|before))? (?:is|are|was|were|has|goes|stays|changes|counts|says|needs|costs|continues|comes|gets|lands)\b/i,
  /^\s*test(?:\.\w+)?\((?:\s*)['"`]what\b/,
];

/** Lines as `file:line: text` with a dropped phrase, in code, comments, titles and pages. */
export const droppedPhrases = (texts: readonly { readonly name: string; readonly text: string }[]): readonly string[] =>
  texts.flatMap(({ name, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        DROPPED_PHRASES.some((phrase) => phrase.test(line)) ? [`${name}:${index + 1}: ${line.trim()}`] : [],
      ),
  );

/** Participles that do not end in -ed or -ing. */
const IRREGULAR = new Set(
  'begun bound broken brought built caught chosen done drawn found frozen given gone held hidden kept known left lost made met paid sent shown sold spent sunk taken told written'.split(
    ' ',
  ),
);
/** Verbs that end like a participle. */
const VERBS = new Set('bring embed exceed feed heed need proceed seed speed succeed'.split(' '));

/** Functions at the top level, as `file: name`, whose name begins with a participle or ends in `Of`: their names are no verbs. */
export const namesWithoutVerb = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap((source) =>
    topFunctions(source)
      .filter((name) => /^(?!is[A-Z]).*[a-z]Of$/.test(name) || isParticiple(name.split(/(?=[A-Z])/)[0] ?? ''))
      .map((name) => `${source.name}: ${name}`),
  );

const isParticiple = (word: string): boolean =>
  IRREGULAR.has(word) || (/^[a-z]+(?:ed|ing)$/.test(word) && !VERBS.has(word));

export const topFunctions = ({ tree }: Source): readonly string[] =>
  tree.statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return statement.name ? [statement.name.text] : [];
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && initializer && ts.isArrowFunction(initializer) ? [name.text] : [],
    );
  });

const definitionsIn = ({ tree }: Source): readonly string[] =>
  tree.statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
    const isDefinition =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement);
    return isDefinition && statement.name ? [statement.name.text] : [];
  });
