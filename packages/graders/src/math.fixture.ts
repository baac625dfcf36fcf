/** Two answers, the gold one first, and whether the second one is as right as the first. */
export type MathPair = readonly [gold: string, prediction: string, equal: boolean];

/** Rows of a kind: a gold answer, then `≡` before each answer that equals it and `≢` before each that does not. */
const rows: Readonly<Record<string, string>> = {
  integers: String.raw`
    7 ≡ 7.0 ≡ +7 ≡ $7$ ≡ \boxed{7} ≢ -7 ≢ 70 ≢ 7.1
    -12 ≡ -12.0 ≡ (-12) ≡ −12 ≢ 12 ≢ -21 ≢ -1.2
    0 ≡ 0.0 ≡ -0 ≢ 1 ≢ 0.01
    24 ≡ 4! ≡ 2^3 \cdot 3 ≡ 2 \times 12 ≢ 4 ≢ 42 ≢ 2^3 + 3
    100 ≡ 10^2 ≡ 10^{2} ≢ 102 ≢ 10 ≢ 1000`,
  fractions: String.raw`
    \frac{3}{4} ≡ 3/4 ≡ \dfrac{3}{4} ≡ \tfrac34 ≡ 0.75 ≡ \frac{6}{8} ≡ \frac34 ≢ \frac{4}{3} ≢ -\frac{3}{4} ≢ 0.74 ≢ 34
    -\frac{2}{5} ≡ \frac{-2}{5} ≡ \frac{2}{-5} ≡ -0.4 ≡ -2/5 ≢ \frac{2}{5} ≢ -\frac{5}{2} ≢ -0.04
    \frac{17}{50} ≡ 17/50 ≡ 0.34 ≡ .34 ≢ \frac{50}{17} ≢ 0.35 ≢ \frac{17}{5}
    \frac{1}{7} ≡ 1/7 ≡ \frac{2}{14} ≢ 7 ≢ \frac{1}{17} ≢ 0.14
    \frac{10}{9} ≡ 10/9 ≡ \frac{20}{18} ≢ \frac{9}{10} ≢ 1.1 ≢ 1
    \frac{a+b}{2} ≡ (a+b)/2 ≡ \frac{b+a}{2} ≢ a+\frac{b}{2} ≢ \frac{a-b}{2}`,
  decimals: String.raw`
    0.5 ≡ .5 ≡ 0.50 ≡ \frac{1}{2} ≡ 1/2 ≢ 0.05 ≢ 5 ≢ -0.5
    3.25 ≡ 13/4 ≡ \frac{13}{4} ≡ 3.250 ≢ 32.5 ≢ 3.2 ≢ 3.52
    -1.125 ≡ -9/8 ≡ -\frac{9}{8} ≢ 1.125 ≢ -1.12 ≢ -\frac{8}{9}
    0.001 ≡ 1/1000 ≡ 10^{-3} ≢ 0.01 ≢ 10^{3} ≢ 0.0001
    12.6 ≡ 12.60 ≡ \frac{63}{5} ≢ 12.06 ≢ 126 ≢ 12.7`,
  percent: String.raw`
    35\% ≡ 35% ≡ 35 ≡ 35.0\% ≢ 3.5\% ≢ 36\% ≢ 53
    12.5\% ≡ 12.5% ≡ 0.125 ≢ 1.25\% ≢ 125\% ≢ 0.0125
    40 ≡ 40\% ≡ 40% ≢ 4\% ≢ 400\%`,
  units: String.raw`
    15\text{ cm} ≡ 15 ≡ 15 cm ≡ 15\,\text{cm} ≡ 15\mbox{ cm} ≢ 15\text{ m} ≢ 51\text{ cm} ≢ 1.5 cm
    8 ≡ 8\text{ hours} ≡ 8 hours ≡ 8 \text{ square units} ≢ 80\text{ hours} ≢ 7 hours
    2\text{ m} ≡ 200\text{ cm} ≡ 2 m ≢ 20\text{ cm} ≢ 2\text{ km}
    60^\circ ≡ 60 ≡ 60° ≡ 60^{\circ} ≢ 30^\circ ≢ 600
    \$18 ≡ 18 ≡ \$18.00 ≡ 18 dollars ≢ \$81 ≢ \$1.80
    30\text{ mph} ≡ 30 ≡ 30 mph ≢ 3\text{ mph} ≢ 30\text{ cm}`,
  sets: String.raw`
    \{1,2,3\} ≡ \{3,2,1\} ≡ \{1, 2, 3\} ≡ \left\{1,2,3\right\} ≢ \{1,2\} ≢ \{1,2,4\} ≢ \{1,2,3,4\}
    1,-2 ≡ -2,1 ≡ -2, 1 ≡ 1 \text{ and } -2 ≢ 1,2 ≢ -1,2 ≢ 1 ≢ -2
    \frac{1}{2}, 3 ≡ 3, 0.5 ≡ 3, \frac{1}{2} ≢ 2, 3 ≢ \frac{1}{3}, 2
    \emptyset ≡ \varnothing ≡ \{\} ≢ 0 ≢ \{1\}
    3, 5, 7 ≡ 3,5,7 ≡ 7, 5, 3 ≡ 3, 5, \text{ and } 7 ≢ 3, 5 ≢ 3, 5, 8 ≢ 357`,
  intervals: String.raw`
    [2,5] ≡ \left[2,5\right] ≡ [2, 5] ≡ [2,5.0] ≢ (2,5) ≢ [2,5) ≢ [5,2] ≢ [2,6]
    (-\infty,3) ≡ (-\infty, 3) ≡ \left(-\infty,3\right) ≢ (-\infty,3] ≢ (\infty,3) ≢ (-\infty,-3) ≢ (3,\infty)
    [0,\infty) ≡ [0, \infty) ≡ [0,+\infty) ≢ (0,\infty) ≢ [1,\infty) ≢ (-\infty,0]
    (-1,2) \cup (4,6) ≡ (4,6)\cup(-1,2) ≡ (-1,2)\cup(4,6) ≢ (-1,2) ≢ (-1,2)\cup[4,6) ≢ (-1,6)
    (3,\infty) ≡ x>3 ≡ 3<x ≢ x\ge 3 ≢ x<3 ≢ x>-3 ≢ 3
    (-1,4) ≡ -1<x<4 ≡ 4>t>-1 ≢ -1\le x<4 ≢ -4<x<1 ≢ 4<x<-1
    (4,-1) ≢ 4<x<-1 ≢ -1<x<4
    (-\infty,0)\cup(0,\infty) ≡ (0,\infty) \cup (-\infty,0) ≢ (-\infty,\infty) ≢ (-\infty,0]\cup(0,\infty)`,
  tuples: String.raw`
    (3,-4) ≡ (3, -4) ≡ \left(3,-4\right) ≡ (3.0,-4) ≢ (-4,3) ≢ (3,4) ≢ (3,-4,0) ≢ 3
    \left(\frac{1}{2},5\right) ≡ (1/2,5) ≡ (0.5, 5) ≢ (5,0.5) ≢ (2,5) ≢ (1,5)
    (1,2,3) ≡ (1, 2, 3) ≢ (3,2,1) ≢ (1,2) ≢ (1,2,4)
    (1,2),(3,4) ≡ (3,4),(1,2) ≡ (1,2), (3,4) ≢ (1,3),(2,4) ≢ (2,1),(4,3) ≢ (1,2)`,
  matrices: String.raw`
    \begin{pmatrix}1\\2\\3\end{pmatrix} ≡ \begin{pmatrix} 1 \\ 2 \\ 3 \end{pmatrix} ≡ \begin{bmatrix}1\\2\\3\end{bmatrix} ≢ \begin{pmatrix}1\\3\\2\end{pmatrix} ≢ \begin{pmatrix}1\\2\end{pmatrix} ≢ \begin{pmatrix}1\\2\\-3\end{pmatrix}
    \begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \begin{bmatrix}1&2\\3&4\end{bmatrix} ≡ \begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix} ≡ \begin{pmatrix}1&2\\3&4.0\end{pmatrix} ≢ \begin{pmatrix}1&3\\2&4\end{pmatrix} ≢ \begin{pmatrix}1&2\\3&5\end{pmatrix} ≢ -2 ≢ 1,2,3,4
    \begin{pmatrix}1/2&0\\0&1\end{pmatrix} ≡ \begin{pmatrix}\frac{1}{2}&0\\0&1\end{pmatrix} ≡ \begin{pmatrix}0.5&0\\0&1\end{pmatrix} ≢ \begin{pmatrix}2&0\\0&1\end{pmatrix} ≢ \begin{pmatrix}0&1/2\\1&0\end{pmatrix}`,
  equations: `
    y=2x+3 ≡ y = 2x + 3 ≡ y=3+2x ≡ 2x-y+3=0 ≢ y=2x-3 ≢ y=3x+2 ≢ x=2y+3
    x=5 ≡ 5 ≡ x = 5 ≡ 5=x ≢ x=-5 ≢ 6 ≢ x=15
    9 ≡ n=9 ≡ x = 9 ≢ n=-9 ≢ n=8
    x^2+y^2=25 ≡ y^2+x^2=25 ≡ x^2 + y^2 - 25 = 0 ≢ x^2+y^2=5 ≢ x^2-y^2=25 ≢ x+y=5
    f(x)=x^2-1 ≡ x^2-1 ≡ f(x) = (x-1)(x+1) ≢ x^2+1 ≢ f(x)=1-x^2`,
  expressions: String.raw`
    x^2-4 ≡ (x-2)(x+2) ≡ -4+x^2 ≡ x^{2}-4 ≢ (x-2)^2 ≢ x^2+4 ≢ 4-x^2 ≢ x^4-4
    2(x+3) ≡ 2x+6 ≡ 6+2x ≢ 2x+3 ≢ 2x-6 ≢ x+6
    (a+b)^2 ≡ a^2+2ab+b^2 ≡ (b+a)^2 ≢ a^2+b^2 ≢ (a-b)^2 ≢ 2(a+b)
    x^3-6x^2+11x-6 ≡ (x-1)(x-2)(x-3) ≢ (x+1)(x+2)(x+3) ≢ x^3-6x^2+11x+6
    \frac{x}{x+1} ≡ 1-\frac{1}{x+1} ≡ x/(x+1) ≢ \frac{x+1}{x} ≢ x/x+1
    \sin^2 x ≡ 1-\cos^2 x ≢ \cos^2 x ≢ \sin x ≢ \sin 2x
    p - q ≡ -q + p ≡ p-q ≢ q - p ≢ p + q ≢ pq`,
  inequalities: String.raw`
    x>3 ≡ 3<x ≡ (3,\infty) ≢ x<3 ≢ x\ge 3 ≢ x>-3 ≢ [3,\infty)
    x\le -2 ≡ x \leq -2 ≡ -2 \geq x ≡ (-\infty,-2] ≢ x<-2 ≢ x\ge -2 ≢ x\le 2
    -1<x<4 ≡ (-1,4) ≡ 4>x>-1 ≢ -1\le x<4 ≢ -4<x<1 ≢ [-1,4]
    0\le t\le 7 ≡ 0 \leq t \leq 7 ≡ [0,7] ≢ 0<t<7 ≢ [0,8] ≢ (0,7)`,
  roots: String.raw`
    2\sqrt{3} ≡ \sqrt{12} ≡ 2\sqrt3 ≡ \sqrt{3}\cdot 2 ≡ \frac{6}{\sqrt{3}} ≢ 3\sqrt{2} ≢ \sqrt{6} ≢ 2\sqrt{5} ≢ 3.46
    \frac{\sqrt{2}}{2} ≡ \frac{1}{\sqrt{2}} ≡ \sqrt{2}/2 ≡ \sqrt{\frac{1}{2}} ≢ \sqrt{2} ≢ \frac{2}{\sqrt{2}} ≢ 0.7
    1+\sqrt{5} ≡ \sqrt{5}+1 ≡ 1 + \sqrt5 ≢ 1-\sqrt{5} ≢ \sqrt{6} ≢ 5+\sqrt{1}
    \sqrt[3]{16} ≡ 2\sqrt[3]{2} ≡ 16^{1/3} ≢ \sqrt{16} ≢ 3\sqrt{16} ≢ 4
    1\pm\sqrt{2} ≡ 1+\sqrt{2},1-\sqrt{2} ≡ 1-\sqrt2, 1+\sqrt2 ≢ 1+\sqrt{2} ≢ 2\pm\sqrt{1} ≢ -1\pm\sqrt{2}
    \sqrt{49} ≡ 7 ≢ -7 ≢ 49`,
  pi: String.raw`
    4\pi ≡ 4 \pi ≡ \pi\cdot 4 ≡ 4π ≢ 4 ≢ 12.56 ≢ \pi^4 ≢ \frac{\pi}{4} ≢ 14\pi
    \frac{\pi}{6} ≡ \pi/6 ≡ \frac{1}{6}\pi ≡ \dfrac{\pi}{6} ≢ \frac{6}{\pi} ≢ 6\pi ≢ \frac{\pi}{3} ≢ 30
    \frac{2\pi}{3} ≡ \frac{2}{3}\pi ≡ 2\pi/3 ≢ \frac{3\pi}{2} ≢ -\frac{2\pi}{3}
    36\pi-9 ≡ -9+36\pi ≡ 9(4\pi-1) ≢ 36\pi+9 ≢ 27\pi ≢ 9-36\pi`,
  complex: String.raw`
    3+4i ≡ 4i+3 ≡ 3 + 4i ≡ 3+4 i ≢ 3-4i ≢ 4+3i ≢ 5 ≢ 7i
    -i ≡ -1i ≡ 0-i ≢ i ≢ 1 ≢ -1
    (1+i)^2 ≡ 2i ≢ 2 ≢ -2i ≢ 1+i
    \frac{1}{2}+\frac{\sqrt{3}}{2}i ≡ \frac{1+\sqrt{3}i}{2} ≡ \frac{1+i\sqrt{3}}{2} ≢ \frac{1-i\sqrt{3}}{2} ≢ \frac{\sqrt{3}}{2}+\frac{1}{2}i`,
  'big integers': `
    12345678901234567890 ≡ 12,345,678,901,234,567,890 ≡ 12345678901234567890.0 ≢ 12345678901234567891 ≢ 12345678901234567880 ≢ 1234567890123456789
    2^{100} ≡ 1267650600228229401496703205376 ≡ 4^{50} ≢ 1267650600228229401496703205377 ≢ 2^{101} ≢ 2100
    9007199254740993 ≡ 9007199254740992+1 ≢ 9007199254740992 ≢ 9007199254740994
    3^{1000} ≡ 9^{500} ≢ 3^{1001} ≢ 9^{501}`,
  'mixed numbers': String.raw`
    2\frac{1}{3} ≡ \frac{7}{3} ≡ 7/3 ≡ 2 \frac{1}{3} ≢ \frac{2}{3} ≢ 2\frac{2}{3} ≢ \frac{21}{3}
    5\frac{3}{4} ≡ \frac{23}{4} ≡ 5.75 ≡ 5 3/4 ≢ \frac{15}{4} ≢ 5.34 ≢ 3.75`,
  'text and letters': String.raw`
    \text{Maria} ≡ Maria ≡ \text{ Maria } ≡ \textbf{Maria} ≢ Mario ≢ Mary ≢ \text{Mar}
    \text{(B)} ≡ B ≡ (B) ≡ \textbf{(B)} ≡ \text{B} ≢ \text{(C)} ≢ D ≢ 8
    \text{even} ≡ even ≡ \text{Even} ≢ odd ≢ \text{neither}
    \text{ellipse} ≡ ellipse ≡ \mathrm{ellipse} ≢ hyperbola ≢ circle
    \text{Tuesday} ≡ Tuesday ≢ Thursday ≢ \text{Monday}`,
  bases: String.raw`
    1011_2 ≡ 1011_{2} ≡ 1011_{\text{2}} ≢ 1011_3 ≢ 1101_2 ≢ 111_2
    432_5 ≡ 432_{5} ≢ 432_6 ≢ 423_5 ≢ 43_5
    2A_{16} ≡ 2A_{16} ≢ 2B_{16} ≢ A2_{16}`,
  'thousands separators': String.raw`
    1,234 ≡ 1234 ≡ 1{,}234 ≡ 1,\!234 ≢ 1.234 ≢ 12,34 ≢ 1,235 ≢ 234
    10,000,000 ≡ 10000000 ≡ 10^7 ≡ 10{,}000{,}000 ≢ 1,000,000 ≢ 10,000 ≢ 100,000,000
    56{,}008 ≡ 56008 ≡ 56,008 ≢ 5608 ≢ 56,080 ≢ 56,800
    -2,500 ≡ -2500 ≢ 2,500 ≢ -2,050`,
  'several boxes': String.raw`
    1,2 ≡ \boxed{1} \text{ and } \boxed{2} ≡ \boxed{1}, \boxed{2} ≡ \boxed{1,2} ≢ \boxed{1}, \boxed{3} ≢ \boxed{12} ≢ \boxed{1}
    \frac{7}{4} ≡ \boxed{1\frac{3}{4}} \text{ or } \boxed{\frac{7}{4}} ≡ \boxed{\frac{7}{4}}, \boxed{1.75} ≢ \boxed{1\frac{3}{4}} \text{ or } \boxed{\frac{3}{4}} ≢ \boxed{1}, \boxed{\frac{7}{4}}
    \frac{5}{6} ≡ \boxed{\frac{5}{6}} ≡ \boxed{5/6} ≢ \boxed{\frac{6}{5}} ≢ \boxed{5}`,
};

const pairsOf = (text: string): MathPair[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => {
      const [gold = '', ...others] = line.trim().split(/ (?=[≡≢] )/u);
      return others.map((other): MathPair => [gold, other.slice(2), other.startsWith('≡')]);
    });

/** Equal pairs that the grader does not find equal. */
export const missed: readonly MathPair[] = pairsOf(String.raw`
  12 ≡ twelve
  \text{twelve} ≡ 12
  \mathbb{R} ≡ (-\infty,\infty)
  1,3,5,7,9 ≡ 1,3,\ldots,9
  \sin 30^\circ ≡ \frac{1}{2}
  30^\circ ≡ \frac{\pi}{6}
  x^2=4 ≡ x=2 \text{ or } x=-2
  3\text{ PM} ≡ 3:00 PM
  3\mathbf{i}-\mathbf{j} ≡ \begin{pmatrix}3\\-1\end{pmatrix}
  \sum_{k=1}^{4} k ≡ 10
  \text{June 20} ≡ 20 June
  7 \pmod{12} ≡ 7`);

/** Pairs of answers of our own writing by kind. */
export const mathPairs: Readonly<Record<string, readonly MathPair[]>> = Object.fromEntries(
  Object.entries(rows).map(([kind, text]) => [kind, pairsOf(text)]),
);
