package io.pawl.spring;

import java.lang.reflect.Method;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** A lock's name as an annotation has it: text, and expressions about the call. */
final class NameTemplate {

  private static final SpelExpressionParser parser = new SpelExpressionParser();
  private static final ParameterNameDiscoverer parameters = new DefaultParameterNameDiscoverer();

  /** What is meant for SpEL, and would be the same name for all calls. */
  private static final Pattern BARE_EXPRESSION = Pattern.compile("#\\s*[\\p{Alpha}_]");

  private final String text;
  private final Method method;
  private final BeanFactory beans;
  private final List<Expression> parts;
  private final @Nullable String literal;

  /**
   * @param text after placeholders were replaced
   * @throws IllegalStateException for a text that cannot be meant
   */
  NameTemplate(String text, Method method, BeanFactory beans) {
    this.text = text;
    this.method = method;
    this.beans = beans;
    if (text.isBlank()) {
      throw new IllegalStateException("the lock of " + method + " has no name; give it one");
    }
    Expression whole = parser.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
    parts =
        whole instanceof CompositeStringExpression composite
            ? List.of(composite.getExpressions())
            : List.of(whole);
    literal = whole instanceof LiteralExpression ? text : null;
    if (literal != null && BARE_EXPRESSION.matcher(literal).find()) {
      throw new IllegalStateException(
          "the lock's name '"
              + text
              + "' of "
              + method
              + " is the same for all calls; write #{…}"
              + " around an expression, as in orders:#{#id}");
    }
  }

  /**
   * @throws IllegalArgumentException where an expression has no value
   */
  String of(@Nullable Object target, @Nullable Object[] arguments) {
    if (literal != null) {
      return literal;
    }
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(target, method, arguments, parameters);
    context.setBeanResolver(new BeanFactoryResolver(beans));
    StringBuilder name = new StringBuilder();
    for (Expression part : parts) {
      String value = part.getValue(context, String.class);
      if (value == null) {
        throw new IllegalArgumentException(
            "the lock's name '"
                + text
                + "' of "
                + method
                + ": "
                + part.getExpressionString()
                + " is null");
      }
      name.append(value);
    }
    return name.toString();
  }
}
