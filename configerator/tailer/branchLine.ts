import type { CommitLine } from '../domain/storeTruth';
import type { Git } from '../repository/git';
import { firstParents } from '../repository/history';

/** The first parents of a branch, read once. */
export class BranchLine implements CommitLine {
  private readonly sequences = new Map<string, number>();
  private newest: string | null = null;

  async follow(git: Git, head: string): Promise<void> {
    if (this.newest === head) return;
    const more = this.newest === null ? null : await firstParents(git, head, this.newest);
    const commits = more ?? (await firstParents(git, head, null)) ?? [];
    if (more === null) this.sequences.clear();
    for (const commit of commits) this.sequences.set(commit, this.sequences.size + 1);
    this.newest = head;
  }

  sequenceOf = (commit: string): number | undefined => this.sequences.get(commit);
}
