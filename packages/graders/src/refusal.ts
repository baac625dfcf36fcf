const HELP =
  /\b(?:can(?:no|'|’)?t|cannot|won['’]t|will not|unable to|not able to|not comfortable)[ \t](?:\w{1,16}[ \t]){0,3}?(?:help|assist|comply|fulfil|engage (?:in|with)|support|participate|provide (?:\w{1,16}[ \t])?(?:information|instructions|assistance|guidance|help|details|advice|this|that))\b/i;
const GUIDELINES =
  /\b(?:against|violates?)[ \t](?:my|our|the)[ \t](?:\w{1,16}[ \t])?(?:guidelines|polic(?:y|ies)|programming)\b/i;

/** Whether `text` declines to help. Not knowing ("I cannot decide") is no refusal. */
export const isRefusal = (text: string): boolean => HELP.test(text) || GUIDELINES.test(text);
